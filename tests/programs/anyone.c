/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank receives from any source with any tag, and would therefore take a message that is not the
 * program's. Rank RANK comes to MPI_Init SECONDS later than the others. The exit code is 3, on all ranks.
 *
 *	anyone.MPI [RANK SECONDS]
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ROUNDS 100

static int announced_rank(void)
{
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");

	if (!rank)
		rank = getenv("PMI_RANK");
	return rank ? atoi(rank) : 0;
}

/* Receives from any source with any tag. Sleeps until there is a message, because the ranks outnumber the processors. */
static void receive_any(int *got, MPI_Status *status)
{
	int is_there = 0;

	for (;;) {
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &is_there,
				MPI_STATUS_IGNORE);
		if (is_there)
			break;
		usleep(1000);
	}
	MPI_Recv(got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, status);
}

/* Sends one message to each other rank, and receives one from each. */
static long exchange(int round, int rank, int ranks)
{
	long sum = 0;
	int got;
	MPI_Status status;
	MPI_Request request;

	for (int other = 0; other < ranks; other++) {
		if (other == rank)
			continue;
		MPI_Isend(&round, 1, MPI_INT, other, round % 7, MPI_COMM_WORLD, &request);
		receive_any(&got, &status);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
		sum += got + status.MPI_TAG;
	}
	return sum;
}

int main(int argc, char **argv)
{
	long sum = 0, *sums;
	int rank, ranks;

	if (argc > 2 && atoi(argv[1]) == announced_rank())
		sleep((unsigned)atoi(argv[2]));
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int round = 0; round < ROUNDS; round++)
		sum += exchange(round, rank, ranks);
	sums = calloc((size_t)ranks, sizeof(*sums));
	MPI_Gather(&sum, 1, MPI_LONG, sums, 1, MPI_LONG, 0, MPI_COMM_WORLD);
	for (int other = 0; rank == 0 && other < ranks; other++)
		printf("rank %d: %ld\n", other, sums[other]);
	free(sums);
	MPI_Finalize();
	return 3;
}
