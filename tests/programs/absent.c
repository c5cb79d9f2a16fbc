/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 1 stays away from MPI while rank 0 continues to call it, and rank 0 must not wait. The ranks start
 * together. Then rank 0 works and calls for WORK seconds, and rank 1 sleeps for SLEEP seconds. Prints "rank 0
 * done after X s, rank 1 back after Y s".
 *
 *	absent.MPI WORK SLEEP
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void doze(double seconds)
{
	struct timespec rest = { (time_t)seconds, (long)((seconds - (time_t)seconds) * 1e9) };

	nanosleep(&rest, NULL);
}

int main(int argc, char **argv)
{
	double work = argc > 2 ? atof(argv[1]) : 1, sleep = argc > 2 ? atof(argv[2]) : 4;
	double begin, mine, other = 0;
	int rank, flag;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Barrier(MPI_COMM_WORLD);
	begin = MPI_Wtime();
	if (rank == 1)
		doze(sleep);
	while (rank == 0 && MPI_Wtime() - begin < work) {
		doze(0.001);
		MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	mine = MPI_Wtime() - begin;
	if (rank == 1)
		MPI_Send(&mine, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		MPI_Recv(&other, 1, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("rank 0 done after %.2f s, rank 1 back after %.2f s\n", mine, other);
	}
	MPI_Finalize();
	return 0;
}
