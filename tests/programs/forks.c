/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that forks workers, whose work is known.
 *
 *	forks apart WORKERS ITERATIONS     each does one of two kinds of work, for much longer than a
 *	                                   sampling period, and calls nothing
 *	forks together WORKERS ITERATIONS  they wait at barriers, with one kind of work before each
 *	forks trivial CHILDREN             children that do nothing
 *	forks orphans WORKERS ITERATIONS   like apart, but the parent does not wait for them
 *
 * Every second worker ends by exit(), the others by _exit().
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "work.h"

static pthread_barrier_t *make_barrier(unsigned workers)
{
	pthread_barrier_t *barrier = mmap(NULL, sizeof(*barrier), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_barrierattr_t attributes;

	if (barrier == MAP_FAILED || pthread_barrierattr_init(&attributes))
		abort();
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	if (pthread_barrier_init(barrier, &attributes, workers))
		abort();
	return barrier;
}

static void apart(int worker, int iterations)
{
	for (int i = 0; i < iterations; i++)
		if (worker % 2)
			work("fma", 1000000000); /* 100 ms of the scripted PMU */
		else
			work("triad", 366000000); /* 200 ms */
}

static void together(pthread_barrier_t *barrier, int iterations)
{
	for (int i = 0; i < iterations; i++) {
		work("triad", 27450000);       /* 15 ms */
		pthread_barrier_wait(barrier); /* after triad */
		work("fma", 150000000);        /* 15 ms */
		pthread_barrier_wait(barrier); /* after fma */
	}
}

static int count_ended(int children)
{
	int ended = 0, status;

	for (int i = 0; i < children; i++)
		ended += wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 9;
	return ended;
}

int main(int argc, char **argv)
{
	int workers = argc > 2 ? atoi(argv[2]) : 2, iterations = argc > 3 ? atoi(argv[3]) : 10;
	const char *kind = argc > 1 ? argv[1] : "apart";
	pthread_barrier_t *barrier = make_barrier((unsigned)workers);

	for (int i = 0; i < workers; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (child) {
			/* a program that forks many children waits for each */
			if (strcmp(kind, "trivial") == 0 && count_ended(1) != 1)
				return 2;
			continue;
		}
		if (strcmp(kind, "together") == 0)
			together(barrier, iterations);
		else if (strcmp(kind, "trivial") != 0)
			apart(i, iterations);
		if (i % 2)
			exit(9);
		_exit(9);
	}
	if (strcmp(kind, "apart") == 0 || strcmp(kind, "together") == 0)
		printf("forks: %d of %d ended\n", count_ended(workers), workers);
	return 0;
}
