/*
 * MPI and OpenMP: in each iteration the ranks' teams compute, then the ranks exchange, then one
 * thread of each computes.
 *
 *	hybrid [ITERATIONS]
 */
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 100, rank, provided;
	double sum = 1, all = 0;

	MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < iterations; i++) {
#pragma omp parallel /* region */
		work("triad", 1500000);
		MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
		work("fdiv", 300000);
		MPI_Barrier(MPI_COMM_WORLD); /* after fdiv */
	}
	if (rank == 0)
		printf("hybrid: %d iterations, sum %.0f\n", iterations, all);
	MPI_Finalize();
	return 0;
}
