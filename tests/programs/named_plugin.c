/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library whose bursts are in a function whose name is given when it is built. They also end in that
 * function.
 */
#include <pthread.h>

long run(void);
long FUNCTION(void);

static pthread_barrier_t barrier;

__attribute__((noinline)) long FUNCTION(void)
{
	volatile double sum = 0;

	for (int i = 0; i < 150; i++) {
		for (int k = 0; k < 100000; k++)
			sum += k;
		pthread_barrier_wait(&barrier);
	}
	return sum > 0;
}

long run(void)
{
	long result;

	pthread_barrier_init(&barrier, NULL, 1);
	result = FUNCTION();
	pthread_barrier_destroy(&barrier);
	return result;
}
