/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions of equal code, which an optimizing compiler merges. Only their callers tell their bursts apart, and
 * only the debug information of the caller has their names.
 *
 *	merged [ITERATIONS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

static double sum = 1, all;

#define SWEEP(name)                                                                                \
	static __attribute__((noinline)) void name(void)                                           \
	{                                                                                          \
		work("triad", 1500000);                                                            \
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);                 \
		__asm__ volatile("");                                                              \
	}
SWEEP(sweep_x)
SWEEP(sweep_y)
SWEEP(sweep_z)

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 100, rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < iterations; i++) {
		sweep_x();
		sweep_y();
		sweep_z();
	}
	if (rank == 0)
		printf("merged: %d iterations, %.0f\n", iterations, all);
	MPI_Finalize();
	return 0;
}
