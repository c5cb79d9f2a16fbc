/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two places of a program with equal counts, which only their call paths tell apart.
 *
 *	twins [ITERATIONS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

static double sum = 1, all;

static __attribute__((noinline)) void first(void)
{
	work("triad", 1500000);
	MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static __attribute__((noinline)) void second(void)
{
	work("triad", 1500000);
	MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 100, rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < iterations; i++) {
		first();
		second();
	}
	if (rank == 0)
		printf("twins: %d iterations, %.0f\n", iterations, all);
	MPI_Finalize();
	return 0;
}
