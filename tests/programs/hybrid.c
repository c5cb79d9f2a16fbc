/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program of MPI and OpenMP. In each iteration the ranks' teams compute, then the ranks exchange, then one
 * thread of each computes.
 *
 *	hybrid [ITERATIONS]
 *	hybrid ITERATIONS long    computes for much longer than a sampling period; the part of one
 *	                          thread is computed only by odd ranks
 */
#include <mpi.h>
#include <omp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 100, rank, provided;
	bool is_long = argc > 2;
	double sum = 1, all = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < iterations; i++) {
#pragma omp parallel                                          /* region */
		work("triad", is_long ? 366000000 : 1500000); /* long: 200 ms of the scripted PMU */
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		if (!is_long)
			work("fdiv", 300000);
		else if (rank % 2)
			work("fma", 2000000000); /* 200 ms */
		MPI_Barrier(MPI_COMM_WORLD);     /* after fdiv */
	}
	if (rank == 0)
		printf("hybrid: %d iterations, sum %.0f\n", iterations, all);
	MPI_Finalize();
	return 0;
}
