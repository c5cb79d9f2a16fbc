/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program that mostly sleeps, so that many ranks fit on few processors. Every 20 ms it does a little work of
 * four lengths, each followed by a message round the ring.
 *
 *	sleeps.MPI ITERATIONS
 */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

static void work(unsigned steps)
{
	for (volatile unsigned i = 0; i < steps; i++)
		;
}

int main(int argc, char **argv)
{
	int rank, ranks;
	double token = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : 50); i++) {
		usleep(20000);
		for (int k = 0; k < 4; k++) {
			work(5000u << k);
			MPI_Sendrecv_replace(&token, 1, MPI_DOUBLE, (rank + 1) % ranks, k,
					(rank + ranks - 1) % ranks, k, MPI_COMM_WORLD,
					MPI_STATUS_IGNORE);
		}
	}
	MPI_Finalize();
	return 0;
}
