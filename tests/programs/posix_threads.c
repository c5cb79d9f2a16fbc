/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * POSIX threads whose phases are known: workers that wait at barriers, a queue that one of them waits for, and
 * a worker that makes no call at all.
 *
 *	posix_threads [ITERATIONS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define WORKERS 3

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER, emptied = PTHREAD_COND_INITIALIZER;
static int iterations = 100, items, taken;

static void *worker(void *data)
{
	long index = (long)data;

	for (int i = 0; i < iterations; i++) {
		work("triad", 1500000);
		pthread_barrier_wait(&barrier); /* after triad */
		work("fdiv", 300000);
		if (index == 0) {
			pthread_mutex_lock(&lock);
			/* one item at a time, because a slow consumer would process several without a wait */
			while (items)
				pthread_cond_wait(&emptied, &lock);
			items++;
			pthread_cond_signal(&filled);
			pthread_mutex_unlock(&lock);
		}
		pthread_barrier_wait(&barrier); /* after fdiv */
	}
	return NULL;
}

static void *consumer(void *data)
{
	(void)data;
	for (int i = 0; i < iterations; i++) {
		pthread_mutex_lock(&lock);
		while (!items)
			pthread_cond_wait(&filled, &lock); /* for an item */
		taken++;
		pthread_mutex_unlock(&lock);
		work("alu", 24000000);
		pthread_mutex_lock(&lock);
		items--;
		pthread_cond_signal(&emptied);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[WORKERS + 1];

	if (argc > 1)
		iterations = atoi(argv[1]);
	pthread_barrier_init(&barrier, NULL, WORKERS);
	for (long i = 0; i < WORKERS; i++)
		pthread_create(&threads[i], NULL, worker, (void *)i);
	pthread_create(&threads[WORKERS], NULL, consumer, NULL);
	for (int i = 0; i <= WORKERS; i++)
		pthread_join(threads[i], NULL);
	printf("posix_threads: %d iterations, %d taken\n", iterations, taken);
	return 0;
}
