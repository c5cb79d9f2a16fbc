/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program without MPI whose threads wait for each other. It ends, or makes other processes, in ways that
 * could disturb a preloaded library. Prints what it expects, and whether that happened.
 *
 *	ends KIND;  ends: prints the kinds
 */
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

#define MEETINGS 200
/* instructions between two meetings, of which a kill may lose few even on a fast processor */
#define BETWEEN 3000000

static pthread_barrier_t barrier;

static void expect(bool happened, const char *what)
{
	printf("%s: %s\n", happened ? "as expected" : "NOT AS EXPECTED", what);
	fflush(stdout);
}

static void *meet(void *data)
{
	for (int i = 0; i < MEETINGS; i++) {
		work("alu", BETWEEN);
		pthread_barrier_wait(&barrier);
	}
	return data;
}

static void compute(void)
{
	pthread_t other;

	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&other, NULL, meet, NULL);
	meet(NULL);
	pthread_join(other, NULL);
}

static bool exited_with(pid_t child, int code)
{
	int status = -1;

	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
			WEXITSTATUS(status) == code;
}

/*
 * Computes in a child that was made without fork()'s handlers. Its threads are as if they had always been its
 * own.
 */
static void child_computes(void)
{
	pthread_barrier_init(&barrier, NULL, 1);
	for (int i = 0; i < MEETINGS; i++) {
		work("alu", BETWEEN);
		pthread_barrier_wait(&barrier);
	}
}

static void by_clone(void)
{
	pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, 0);

	if (child == 0) {
		child_computes();
		exit(7);
	}
	expect(exited_with(child, 7), "a child of clone() computes, and ends by exit()");
	compute();
}

static void by_clone3(void)
{
	struct clone_args arguments = { .exit_signal = SIGCHLD };
	pid_t child = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (child < 0) { /* not all kernels know it, and not all containers allow it */
		expect(true, "a child of clone3() computes, and ends by _exit()");
		return;
	}
	if (child == 0) {
		child_computes();
		_exit(8);
	}
	expect(exited_with(child, 8), "a child of clone3() computes, and ends by _exit()");
	compute();
}

static int shares_memory(void *data)
{
	*(volatile int *)data = 1;
	return 9;
}

static void by_shared_clone(void)
{
	static char stack[64 << 10] __attribute__((aligned(64)));
	int seen = 0;
	pid_t child = clone(shares_memory, stack + sizeof(stack), CLONE_VM | CLONE_VFORK | SIGCHLD,
			&seen);

	expect(exited_with(child, 9) && seen, "a child that shares the memory");
	compute();
}

static void as_daemon(void)
{
	pid_t child = fork();

	if (child == 0) {
		setsid();
		for (int fd = 0; fd < 4096; fd++)
			close(fd);
		if (open("/dev/null", O_RDWR) != 0)
			_exit(1);
		compute();
		exit(6);
	}
	expect(exited_with(child, 6), "a daemon closes all descriptors, and computes");
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	compute();
	expect(open("/dev/null", O_RDONLY) == 3, "and so does its parent");
}

static void by_return(void)
{
}

static void by_quick_exit(void)
{
	quick_exit(12);
}

static void by__exit(void)
{
	_exit(13);
}

static void by_exec(void)
{
	execl("/bin/sh", "sh", "-c", "exit 15", NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "return", by_return },
	{ "quick_exit", by_quick_exit },
	{ "_exit", by__exit },
	{ "exec", by_exec },
	{ "clone", by_clone },
	{ "clone3", by_clone3 },
	{ "shared_clone", by_shared_clone },
	{ "daemon", as_daemon },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (argc < 2) {
			puts(kinds[i].name);
		} else if (strcmp(argv[1], kinds[i].name) == 0) {
			compute();
			expect(true, "the threads have met");
			kinds[i].run();
			return 3;
		}
	}
	return argc > 1 ? 2 : 0;
}
