/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of every guest before its acts. Lines are compared after sorting, so ranks, threads and children may
 * write theirs in any order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#ifdef GUEST_OPENMP
#include <omp.h>
#endif
#ifdef GUEST_MPI
#include <mpi.h>
#endif

extern char **environ;
static int rank, ranks = 1, level = 3;

/*
 * Writes a line by one system call, with the rank before it. The program may have closed its output. If phasemux
 * did, a line is missing.
 */
__attribute__((format(printf, 1, 2))) static void say(const char *format, ...)
{
	char line[512];
	int used = snprintf(line, sizeof(line), "%d: ", rank);
	va_list arguments;

	va_start(arguments, format);
	used += vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, arguments);
	va_end(arguments);
	line[used++] = '\n';
	if (write(1, line, (size_t)used) != used && errno != EBADF)
		_exit(99);
}

/* Computes for about `amount` times 10 us. Returns a number that depends only on `amount`. */
__attribute__((noinline)) static long work(int amount)
{
	volatile double sum = 0;

	for (int i = 0; i < amount * 4000; i++)
		sum = sum * 0.999 + i % 7;
	return (long)(sum * 1000);
}

static void pause_ms(int ms)
{
	struct timespec rest = { ms / 1000, ms % 1000 * 1000000L };

	while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
		;
}

/* Waits for a child and writes how it ended. */
static void say_end(const char *what, pid_t child)
{
	int status = -1;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status))
		say("%s: exit %d", what, WEXITSTATUS(status));
	else
		say("%s: signal %d", what, WTERMSIG(status));
}
