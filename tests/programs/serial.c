/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that calls no runtime at all. It is one loop, in which two kinds of work take turns, each for much
 * longer than a sampling period.
 *
 *	serial [ITERATIONS]
 */
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 10;

	for (int i = 0; i < iterations; i++) {
		work("triad", 366000000); /* 200 ms of the scripted PMU */
		work("fma", 1000000000);  /* 100 ms */
	}
	printf("serial: %d iterations\n", iterations);
	return 0;
}
