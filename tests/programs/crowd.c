/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program of many threads with many call sites each, whose bursts are of many lengths. Prints "bytes N"
 * before MPI_Finalize: the memory that the process has for itself, including files that are mapped shared.
 *
 *	crowd THREADS [ITERATIONS]
 */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define THREADS_MAX 64

static pthread_barrier_t barrier;
static int threads = 16, iterations = 40;

#define SITE(number)                                                                               \
	static __attribute__((noinline)) void meet_##number(int i)                                 \
	{                                                                                          \
		static const char *const kernels[] = { "triad", "fdiv", "alu", "fma" };            \
                                                                                                   \
		work(kernels[(number) % 4],                                                        \
				30000 + 20000 * (uint64_t)(number) +                               \
						(uint64_t)(7919 * (i * 40 + (number)) % 50000));   \
		pthread_barrier_wait(&barrier);                                                    \
		__asm__ volatile("" ::: "memory");                                                 \
	}

#define EACH(do)                                                                                                                                          \
	do                                                                                                                                                \
	(0) do(1) do(2) do(3) do(4) do(5) do(6) do(7) do(8) do(9) do(10) do(11) do(12) do(13) do(14) do(15) do(16) do(17) do(18) do(19) do(20) do(21) do( \
			22) do(23) do(24) do(25) do(26) do(27) do(28) do(29) do(30) do(31) do(32) do(33) do(34) do(35) do(36) do(37) do(38) do(39)

EACH(SITE)

#define CALL(number) meet_##number(i);

static void *run(void *data)
{
	for (int i = 0; i < iterations; i++) {
		EACH(CALL)
	}
	return data;
}

/* Returns the kilobytes in a line of what the kernel says about this process. */
static long account(const char *name)
{
	FILE *file = fopen("/proc/self/smaps_rollup", "r");
	char line[256];
	long kilobytes = 0;

	while (file && fgets(line, sizeof(line), file))
		if (strncmp(line, name, strlen(name)) == 0)
			kilobytes = strtol(line + strlen(name), NULL, 10);
	if (file)
		fclose(file);
	return kilobytes;
}

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	int provided;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	if (argc > 1 && atoi(argv[1]) <= THREADS_MAX)
		threads = atoi(argv[1]);
	if (argc > 2)
		iterations = atoi(argv[2]);
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	for (int i = 1; i < threads; i++)
		pthread_create(&thread[i], NULL, run, NULL);
	run(NULL);
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	/* waits, so that a round may end */
	MPI_Barrier(MPI_COMM_WORLD);
	printf("bytes %ld\n", 1024 * (account("Pss_Anon:") + account("Pss_Shmem:")));
	MPI_Finalize();
	return 0;
}
