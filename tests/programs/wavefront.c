/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program that sweeps over a square grid of ranks, like LU of the NAS parallel benchmarks.
 *
 *	wavefront [STEPS [--peers]]
 *
 * In each of PLANES planes a rank receives from its neighbours in the north and the west, works, and sends to those in the
 * south and the east. Then it sweeps back. Ranks at an edge or in a corner have no neighbour on some sides and make other calls:
 * these are nine kinds of ranks. With --peers they make all calls, but some with MPI_PROC_NULL.
 */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define PLANES 4

static int rank, side;
static bool with_null;
static double edge;

/* Returns the rank that is so many rows and columns away, or MPI_PROC_NULL. */
static int neighbour(int rows, int columns)
{
	int row = rank / side + rows, column = rank % side + columns;

	return row < 0 || row >= side || column < 0 || column >= side ? MPI_PROC_NULL :
									row * side + column;
}

static bool is_there(int other)
{
	return with_null || other != MPI_PROC_NULL;
}

static void receive(int other)
{
	MPI_Recv(&edge, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void send(int other)
{
	MPI_Send(&edge, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
}

static void plane_down(void)
{
	if (is_there(neighbour(-1, 0)))
		receive(neighbour(-1, 0));
	if (is_there(neighbour(0, -1)))
		receive(neighbour(0, -1));
	work("alu", 400000);
	if (is_there(neighbour(1, 0)))
		send(neighbour(1, 0));
	if (is_there(neighbour(0, 1)))
		send(neighbour(0, 1));
}

static void plane_up(void)
{
	if (is_there(neighbour(1, 0)))
		receive(neighbour(1, 0));
	if (is_there(neighbour(0, 1)))
		receive(neighbour(0, 1));
	work("triad", 100000);
	if (is_there(neighbour(-1, 0)))
		send(neighbour(-1, 0));
	if (is_there(neighbour(0, -1)))
		send(neighbour(0, -1));
}

int main(int argc, char **argv)
{
	int steps = argc > 1 ? atoi(argv[1]) : 400, ranks;
	double sum;

	with_null = argc > 2 && strcmp(argv[2], "--peers") == 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	while ((side + 1) * (side + 1) <= ranks)
		side++;
	for (int i = 0; i < steps && rank < side * side; i++) {
		for (int plane = 0; plane < PLANES; plane++)
			plane_down();
		for (int plane = 0; plane < PLANES; plane++)
			plane_up();
		work("alu", 100000);
		MPI_Allreduce(&edge, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("wavefront: %d ranks, %d steps\n", side * side, steps);
	MPI_Finalize();
	return 0;
}
