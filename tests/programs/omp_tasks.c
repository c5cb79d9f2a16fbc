/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * OpenMP tasks whose work is known. One thread makes them, and all threads run them while they wait.
 *
 *	omp_tasks [ITERATIONS]
 */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define TASKS 4

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 100;
	long done[TASKS] = { 0 }, sum = 0;

	for (int i = 0; i < iterations; i++) {
#pragma omp parallel
#pragma omp single
		for (int t = 0; t < TASKS; t++) {
#pragma omp task firstprivate(t) shared(done) /* task */
			{
				work(t % 2 ? "triad" : "fdiv", t % 2 ? 1500000 : 300000);
				done[t]++;
			}
		}
	}
	for (int t = 0; t < TASKS; t++)
		sum += done[t];
	printf("omp_tasks: %d iterations, %ld tasks\n", iterations, sum);
	return 0;
}
