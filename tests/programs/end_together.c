/* SPDX-License-Identifier: BSD-3-Clause */
/* Eight threads that wait for each other, and then end at the same time, seven times. Prints "ended". */
#include <pthread.h>
#include <stdio.h>

#define THREADS 8

static pthread_barrier_t barrier;

static void *body(void *data)
{
	volatile double x = 1;

	for (int i = 0; i < 20; i++) {
		for (int k = 0; k < 20000; k++)
			x = x * 0.999 + 1;
		pthread_barrier_wait(&barrier);
	}
	return data;
}

int main(void)
{
	pthread_t threads[THREADS];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int round = 0; round < 7; round++) {
		for (int i = 0; i < THREADS; i++)
			if (pthread_create(&threads[i], NULL, body, NULL))
				return 1;
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	puts("ended");
	return 0;
}
