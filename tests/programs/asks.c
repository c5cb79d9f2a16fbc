/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 computes and sends. Rank 1 asks for the message, with two calls in turn until it has come, and then
 * computes. Two looks at the clock are around all computing of the program, and around all asking of rank 1.
 * Prints "computed X s, asked N times in Y s" for both ranks together.
 *
 *	asks.MPI test|probe|status|progress ROUNDS [aborts]
 *
 * test: asks by MPI_Testsome and MPI_Test. probe: by MPI_Iprobe and MPI_Improbe. status: by
 * MPI_Request_get_status and MPI_Testall. progress: by MPI_Test alone, with 200 us of computing before each
 * call. aborts: the program calls MPI_Abort instead of its normal end.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPUTES 3e-3 /* seconds of a round, on rank 0 */
#define AFTER    5e-4 /* seconds of a round, on rank 1 */
#define PROGRESS 2e-4

static double computed, asked;
static long asks;

static void compute(double seconds)
{
	double begin = MPI_Wtime(), end;

	do
		end = MPI_Wtime();
	while (end - begin < seconds);
	computed += end - begin;
}

/* Does the little work that a scheduler of tasks does between two calls that ask. */
static void look(void)
{
	for (volatile int i = 0; i < 40; i++)
		;
	asks++;
}

static int ask_test(MPI_Request *request)
{
	int done, count, index;
	MPI_Request none = MPI_REQUEST_NULL;
	MPI_Status status[1];

	look();
	MPI_Testsome(1, &none, &count, &index, status);
	look();
	MPI_Test(request, &done, MPI_STATUS_IGNORE);
	return done;
}

static int ask_status(MPI_Request *request)
{
	int done;
	MPI_Status status[1];

	look();
	MPI_Request_get_status(*request, &done, MPI_STATUS_IGNORE);
	look();
	MPI_Testall(1, request, &done, status);
	return done;
}

static int ask_progress(MPI_Request *request)
{
	int done;

	compute(PROGRESS);
	asks++;
	MPI_Test(request, &done, MPI_STATUS_IGNORE);
	return done;
}

static void receive(const char *how)
{
	int word, done = 0;
	MPI_Request request;

	MPI_Irecv(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
	while (!done)
		done = strcmp(how, "test") == 0            ? ask_test(&request) :
				strcmp(how, "status") == 0 ? ask_status(&request) :
							     ask_progress(&request);
}

static void probe(void)
{
	int word, done = 0;
	MPI_Message message;

	while (!done) {
		look();
		MPI_Iprobe(0, 1, MPI_COMM_WORLD, &done, MPI_STATUS_IGNORE);
		look();
		MPI_Improbe(0, 0, MPI_COMM_WORLD, &done, &message, MPI_STATUS_IGNORE);
	}
	MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

static void one_round(int rank, const char *how)
{
	double begin;
	int word = 0;

	if (rank == 0) {
		compute(COMPUTES);
		MPI_Send(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
		return;
	}
	begin = MPI_Wtime();
	if (strcmp(how, "probe") == 0)
		probe();
	else
		receive(how);
	asked += MPI_Wtime() - begin;
	compute(AFTER);
}

int main(int argc, char **argv)
{
	int rank, rounds = argc > 2 ? atoi(argv[2]) : 1;
	double mine[3], all[3] = { 0 };

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < rounds; i++)
		one_round(rank, argv[1]);
	mine[0] = computed;
	mine[1] = (double)asks;
	mine[2] = asked;
	MPI_Reduce(mine, all, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		printf("computed %.6f s, asked %.0f times in %.6f s\n", all[0], all[1], all[2]);
		fflush(stdout);
	}
	if (argc > 3) {
		MPI_Barrier(MPI_COMM_WORLD);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
	MPI_Finalize();
	return 0;
}
