/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of a round against the number of ranks. For comparison it measures MPI_Allreduce of the MPI
 * library on as many bytes, and the training of what the ranks have sent. Rank 0 prints the least seconds of
 * each, "ROUND ALLREDUCE TRAINING". Ranks sleep while rank 0 trains.
 *
 *	rounds.MPI ADAPTER PAYLOAD ROUNDS
 */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mpi/mpi_adapter.h"

/* tests/bench/payload.c */
static size_t (*part_bytes)(void), (*answer_bytes)(void);
static void (*part_fill)(void *part, int rank, int ranks);
static double (*part_train)(const void *part);
static mpi_merge part_merge;

static void *symbol(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "rounds: no %s: %s\n", name, dlerror());
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	return found;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Waits until all ranks have come, without keeping a processor busy. */
static void doze(void)
{
	MPI_Request request;
	int done = 0;

	MPI_Ibarrier(MPI_COMM_WORLD, &request);
	while (!done) {
		MPI_Test(&request, &done, MPI_STATUS_IGNORE);
		usleep(2000);
	}
}

int main(int argc, char **argv)
{
	const struct mpi_adapter *adapter;
	mpi_adapter_entry *entry;
	char why[512] = "";
	int rounds = argc > 3 ? atoi(argv[3]) : 20;
	double *round = calloc((size_t)rounds, sizeof(*round));
	double *allreduce = calloc((size_t)rounds, sizeof(*allreduce));
	double *training = calloc((size_t)rounds, sizeof(*training));
	void *payload, *fresh, *mine, *all, *answer;
	struct mpi_world world;

	MPI_Init(&argc, &argv);
	if (argc < 3)
		MPI_Abort(MPI_COMM_WORLD, 2);
	*(void **)&entry = symbol(dlopen(argv[1], RTLD_NOW), MPI_ADAPTER_ENTRY);
	payload = dlopen(argv[2], RTLD_NOW);
	*(void **)&part_bytes = symbol(payload, "part_bytes");
	*(void **)&answer_bytes = symbol(payload, "answer_bytes");
	*(void **)&part_fill = symbol(payload, "part_fill");
	*(void **)&part_train = symbol(payload, "part_train");
	*(void **)&part_merge = symbol(payload, "part_merge");
	adapter = entry(dlopen(NULL, RTLD_NOW), why, sizeof(why));
	if (!adapter)
		fprintf(stderr, "%s\n", why);
	if (!adapter || adapter->open(&world))
		MPI_Abort(MPI_COMM_WORLD, 1);
	fresh = calloc(1, part_bytes());
	mine = calloc(1, part_bytes());
	all = calloc(1, part_bytes());
	answer = calloc(1, answer_bytes());
	part_fill(fresh, world.rank, world.size);
	for (int i = 0; i < rounds; i++) {
		double begin;

		memcpy(mine, fresh, part_bytes());
		MPI_Barrier(MPI_COMM_WORLD);
		begin = MPI_Wtime();
		adapter->reduce_start(mine, all, part_bytes(), part_merge);
		adapter->wait();
		adapter->broadcast_start(answer, answer_bytes());
		adapter->wait();
		MPI_Barrier(MPI_COMM_WORLD);
		round[i] = MPI_Wtime() - begin;
		if (world.rank == 0)
			training[i] = part_train(mine);
		doze();

		MPI_Barrier(MPI_COMM_WORLD);
		begin = MPI_Wtime();
		MPI_Allreduce(mine, all, (int)(part_bytes() / sizeof(double)), MPI_DOUBLE, MPI_SUM,
				MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		allreduce[i] = MPI_Wtime() - begin;
	}
	qsort(round, (size_t)rounds, sizeof(*round), by_value);
	qsort(training, (size_t)rounds, sizeof(*training), by_value);
	qsort(allreduce, (size_t)rounds, sizeof(*allreduce), by_value);
	if (world.rank == 0)
		printf("%.9f %.9f %.9f\n", round[0], allreduce[0], training[0]);
	adapter->close();
	MPI_Finalize();
	return 0;
}
