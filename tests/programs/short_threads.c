/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Threads that live for a short time. WAVES times, the program makes THREADS threads, which compute LOOPS
 * rounds of a loop each, and joins them. With "meet", the threads of a wave live at the same time. Prints on
 * stderr the greatest memory of the process, and how long a thread took from wave to wave.
 *
 *	short_threads WAVES THREADS LOOPS [meet]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#define THREADS_MAX 4096

static pthread_barrier_t barrier;
static long loops;
static int meets;

static void *body(void *data)
{
	volatile double sum = 0;

	if (meets)
		pthread_barrier_wait(&barrier);
	for (long i = 0; i < loops; i++)
		sum += (double)i;
	return data;
}

static double seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int wave(long threads)
{
	static pthread_t thread[THREADS_MAX];

	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, body, NULL))
			return 1;
	for (long i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	long waves = argc > 1 ? atol(argv[1]) : 100, threads = argc > 2 ? atol(argv[2]) : 2;
	struct rusage usage;
	double begin;

	loops = argc > 3 ? atol(argv[3]) : 1000;
	meets = argc > 4;
	if (threads > THREADS_MAX)
		return 2;
	pthread_barrier_init(&barrier, NULL, (unsigned)threads);
	begin = seconds();
	for (long i = 0; i < waves; i++)
		if (wave(threads)) {
			printf("short_threads: no thread in wave %ld\n", i);
			return 1;
		}
	getrusage(RUSAGE_SELF, &usage);
	printf("short_threads: %ld\n", waves * threads);
	fprintf(stderr, "KiB: %ld, us: %.2f\n", usage.ru_maxrss,
			(seconds() - begin) * 1e6 / (double)(waves * threads));
	return 0;
}
