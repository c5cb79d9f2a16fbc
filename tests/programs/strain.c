/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program that makes a tool expensive, in one of several ways. Prints the processor time of the process
 * in seconds, and how many MPI calls each rank made.
 *
 *	strain WAY CALLS
 *
 * paths: calls by 100,000 call paths, in random order. calls: a fast call repeatedly, some ten million times a
 * second. places: calls of that kind from 64 places in random order, as in a code with many small routines.
 * mixed: calls as in places, and a burst of computing of 20 us after every 50 calls. communicators: 10,000 of
 * them, used in random order. threads: 1,000 of them, 50 at a time.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "work.h"

#define PATHS         100000
#define COMMUNICATORS 10000
#define THREADS       1000
#define AT_A_TIME     50

#define KEEP __attribute__((noinline))

static long calls;
static uint32_t draw = 1;

static uint32_t next_draw(void)
{
	draw = draw * 1664525 + 1013904223;
	return draw >> 8;
}

static KEEP void call(void)
{
	int flag;

	MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
	__asm__ volatile("" ::: "memory");
}

/* Takes one of eight ways at each level. The number prevents the compiler from merging two calls. */
#define WAY(n)                                                                                     \
	case n:                                                                                    \
		layer(way >> 3, depth - 1);                                                        \
		__asm__ volatile("# %0" : : "i"(n) : "memory");                                    \
		break

static KEEP void layer(unsigned way, int depth)
{
	if (!depth) {
		call();
		__asm__ volatile("" ::: "memory");
		return;
	}
	switch (way & 7) {
		WAY(0);
		WAY(1);
		WAY(2);
		WAY(3);
		WAY(4);
		WAY(5);
		WAY(6);
		WAY(7);
	}
}

static void by_paths(void)
{
	for (long i = 0; i < calls; i++)
		layer(next_draw() % PATHS, 6);
}

static void by_calls(void)
{
	for (long i = 0; i < calls; i++)
		call();
}

#define PLACE(n)                                                                                   \
	case n:                                                                                    \
		MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);            \
		__asm__ volatile("# %0" : : "i"(n) : "memory");                                    \
		break;
#define PLACES(n)                                                                                  \
	PLACE(n)                                                                                   \
	PLACE(n + 1)                                                                               \
	PLACE(n + 2)                                                                               \
	PLACE(n + 3) PLACE(n + 4) PLACE(n + 5) PLACE(n + 6) PLACE(n + 7)

static KEEP void from_place(unsigned place)
{
	int flag;

	switch (place) {
		PLACES(0)
		PLACES(8)
		PLACES(16) PLACES(24) PLACES(32) PLACES(40) PLACES(48) PLACES(56)
	}
}

static void by_places(void)
{
	for (long i = 0; i < calls; i++)
		from_place(next_draw() % 64);
}

static void by_mixed(void)
{
	for (long i = 0; i < calls; i++) {
		if (i % 50 == 0)
			work("alu", 80000);
		from_place(next_draw() % 64);
	}
}

static void by_communicators(void)
{
	static MPI_Comm of[COMMUNICATORS];
	long made = calls < COMMUNICATORS ? calls : COMMUNICATORS;

	for (long i = 0; i < made; i++)
		MPI_Comm_dup(MPI_COMM_SELF, &of[i]);
	for (long i = 0; i < calls; i++)
		MPI_Barrier(of[next_draw() % (uint32_t)made]);
	for (long i = 0; i < made; i++)
		MPI_Comm_free(&of[i]);
}

static void *in_thread(void *data)
{
	for (long i = 0; i < calls / THREADS; i++)
		call();
	return data;
}

static void by_threads(void)
{
	pthread_t thread[AT_A_TIME];

	for (int all = 0; all < THREADS; all += AT_A_TIME) {
		for (int i = 0; i < AT_A_TIME; i++)
			pthread_create(&thread[i], NULL, in_thread, NULL);
		for (int i = 0; i < AT_A_TIME; i++)
			pthread_join(thread[i], NULL);
	}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = { { "paths", by_paths }, { "calls", by_calls }, { "places", by_places },
		{ "mixed", by_mixed }, { "communicators", by_communicators },
		{ "threads", by_threads } };
	struct timespec used;
	int provided, known = 0, level = MPI_THREAD_SINGLE;

	if (argc > 1 && strcmp(argv[1], "threads") == 0)
		level = MPI_THREAD_MULTIPLE;
	MPI_Init_thread(&argc, &argv, level, &provided);
	calls = argc > 2 ? atol(argv[2]) : 0;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways) && argc > 1; i++)
		if (strcmp(argv[1], ways[i].name) == 0) {
			known = 1;
			ways[i].run();
		}
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	printf("processor seconds %.4f, calls %ld\n",
			(double)used.tv_sec + (double)used.tv_nsec * 1e-9, calls);
	MPI_Finalize();
	return !known;
}
