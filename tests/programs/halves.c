/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program whose bursts change: each does one kind of work in its first half, and another kind in its second
 * half.
 *
 *	halves [BURSTS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

int main(int argc, char **argv)
{
	int bursts = argc > 1 ? atoi(argv[1]) : 100;
	pthread_barrier_t alone;

	pthread_barrier_init(&alone, NULL, 1);
	for (int i = 0; i < bursts; i++) {
		work("triad", 39000000); /* 21.3 ms of the scripted PMU */
		work("fma", 200000000);  /* 20 ms */
		pthread_barrier_wait(&alone);
	}
	printf("halves: %d bursts\n", bursts);
	return 0;
}
