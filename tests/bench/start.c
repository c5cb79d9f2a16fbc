/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program that does nothing. Rank 0 prints how many ms MPI_Init and MPI_Finalize took.
 *
 *	start.MPI
 */
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

int main(int argc, char **argv)
{
	double begin = now_ms(), ready, end;
	int rank;

	MPI_Init(&argc, &argv);
	ready = now_ms();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	end = now_ms();
	MPI_Finalize();
	if (rank == 0)
		printf("%.3f %.3f\n", ready - begin, now_ms() - end);
	return 0;
}
