/*
 * An OpenMP program whose phases are known, without MPI: two parallel regions, one with a barrier
 * in its middle, and a serial part between them. Built by GCC and by Clang.
 *
 *	omp [ITERATIONS]
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 100;
	long sum = 0;

	for (int i = 0; i < iterations; i++) {
		work("alu", 24000000); /* serial */
#pragma omp parallel /* first region */
		{
			work("triad", 1500000);
		}
#pragma omp parallel reduction(+ : sum) /* second region */
		{
			work("fdiv", 300000);
#pragma omp barrier
			work("chase", 6000); /* after the barrier */
			sum++;
		}
	}
	printf("omp: %d iterations, %d\n", iterations, sum == (long)iterations * omp_get_max_threads());
	return 0;
}
