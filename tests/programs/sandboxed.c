/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sandboxed [killed]: puts itself into a sandbox of Landlock in which it may open, make and remove no file, as Debian
 * 13's xz does. Then two threads compute for 50 ms each. With an argument, it ends by SIGKILL. A kernel without
 * Landlock: exit code 77.
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* of <linux/landlock.h>, which kernel headers before 5.13 do not have; the numbers are the same on all processors */
#define CREATE_RULESET 444
#define RESTRICT_SELF  446
#define ALL_ACCESS     0x1fff /* all kinds of access to files that Landlock 1 knows */

#define THREADS 2
#define WORK_NS 50e6

static void *compute(void *unused)
{
	struct timespec used;

	(void)unused;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
	while ((double)used.tv_sec * 1e9 + (double)used.tv_nsec < WORK_NS);
	return NULL;
}

static int enter_sandbox(void)
{
	uint64_t handled_access = ALL_ACCESS;
	int fd = (int)syscall(CREATE_RULESET, &handled_access, sizeof(handled_access), 0);

	if (fd < 0)
		return -1;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || syscall(RESTRICT_SELF, fd, 0))
		return -1;
	return close(fd);
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS];

	(void)argv;
	if (enter_sandbox())
		return 77;
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, compute, NULL))
			return 1;
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	puts(fopen("/etc/passwd", "r") ? "a file was opened" : "computed");
	fflush(stdout);
	if (argc > 1)
		raise(SIGKILL);
	return 0;
}
