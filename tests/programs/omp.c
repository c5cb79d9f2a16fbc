/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An OpenMP program whose phases are known, without MPI. It has two parallel regions, one with a barrier in its
 * middle, and a serial part between them. GCC and Clang build it.
 *
 *	omp [ITERATIONS]
 *	omp ITERATIONS long    each part takes much longer than a sampling period
 */
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 100;
	bool is_long = argc > 2;
	long sum = 0;

	for (int i = 0; i < iterations; i++) {
		work("alu", is_long ? 0 : 24000000); /* serial */
#pragma omp parallel                                 /* first region */
		{
			work("triad", is_long ? 366000000 : 1500000); /* long: 200 ms */
		}
#pragma omp parallel reduction(+ : sum) /* second region */
		{
			work(is_long ? "fma" : "fdiv", is_long ? 2000000000 : 300000);
#pragma omp barrier
			work("chase", is_long ? 0 : 6000); /* after the barrier */
			sum++;
		}
	}
	printf("omp: %d iterations, %d\n", iterations,
			sum == (long)iterations * omp_get_max_threads());
	return 0;
}
