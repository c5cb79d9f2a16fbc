/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Enters namespaces, which the kernel allows only to a process with one thread, between two computations. Prints what each
 * call returned. Ends with 77 if this system has no user namespaces.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void compute(void)
{
	volatile double sum = 0;

	for (int i = 0; i < 30000000; i++)
		sum += i;
}

static void say(const char *call, int result)
{
	printf("%s: %s\n", call, result ? strerror(errno) : "done");
	fflush(stdout);
}

/* Returns whether a child of this process may make a user namespace. */
static int is_possible(void)
{
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(unshare(CLONE_NEWUSER) != 0);
	return waitpid(child, &status, 0) == child && status == 0;
}

int main(void)
{
	int own;

	if (!is_possible())
		return 77;
	compute();
	say("unshare of the user namespace", unshare(CLONE_NEWUSER));
	say("unshare of the mounts", unshare(CLONE_NEWNS));
	own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	say("setns", setns(own, CLONE_NEWNS));
	say("setns of nothing", setns(-1, 0));
	compute();
	return 0;
}
