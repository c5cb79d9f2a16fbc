/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of a round against the number of ranks. For comparison it measures MPI_Allreduce of the MPI
 * library on as many bytes, the training of what the ranks have sent, and a round that also has the votes on leads
 * (`voted_`). Rank 0 prints lines of a name and a number: the least seconds of each and of the merge of two parts, the bytes
 * of a part and of an answer, and what was counted in a round: messages and bytes of all ranks, the messages that one rank has
 * sent at most, and those that came to rank 0. Ranks sleep while rank 0 trains.
 *
 *	rounds.MPI ADAPTER PAYLOAD ROUNDS
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/mpi/mpi_adapter.h"

/* tests/bench/payload.c */
static size_t (*part_bytes)(bool votes), (*answer_bytes)(bool votes);
static void (*part_fill)(void *part, int rank, int ranks);
static double (*part_train)(const void *part);
static mpi_merge part_merge, part_merge_votes;

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

/* What this rank has sent in the round under way. */
struct sent {
	double messages, bytes, to_first;
};
static struct sent sent, sent_in[2]; /* [votes]: in the last round without and with votes */

/* Counts the messages of the adapter, which finds this function in place of that of MPI. */
int PMPI_Isend(const void *data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
		MPI_Request *request)
{
	static int (*real)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);

	if (!real)
		*(void **)&real = symbol(RTLD_NEXT, "PMPI_Isend");
	sent.messages++;
	sent.bytes += count;
	sent.to_first += !to;
	return real(data, count, type, to, tag, comm, request);
}

static const struct mpi_adapter *adapter;
static void *fresh, *mine, *all, *answer; /* with room for votes */

/* Returns the seconds of a round. */
static double take_round(bool votes)
{
	double begin;

	memcpy(mine, fresh, part_bytes(true));
	MPI_Barrier(MPI_COMM_WORLD);
	sent = (struct sent){ 0 };
	begin = MPI_Wtime();
	adapter->reduce_start(mine, all, part_bytes(votes), votes ? part_merge_votes : part_merge);
	adapter->wait();
	adapter->broadcast_start(answer, answer_bytes(votes));
	adapter->wait();
	sent_in[votes] = sent;
	MPI_Barrier(MPI_COMM_WORLD);
	return MPI_Wtime() - begin;
}

static double least(double *seconds, int count)
{
	qsort(seconds, (size_t)count, sizeof(*seconds), by_value);
	return seconds[0];
}

/* Returns the least seconds that it takes to merge the part of another rank into that of this one. */
static double merge_seconds(bool votes, int rounds)
{
	double *seconds = calloc((size_t)rounds, sizeof(*seconds)), found;
	void *theirs = calloc(1, part_bytes(true));

	part_fill(theirs, 1, 2);
	for (int i = 0; i < rounds; i++) {
		double begin;

		memcpy(mine, fresh, part_bytes(true));
		begin = MPI_Wtime();
		(votes ? part_merge_votes : part_merge)(theirs, mine);
		seconds[i] = MPI_Wtime() - begin;
	}
	found = least(seconds, rounds);
	free(theirs);
	free(seconds);
	return found;
}

/* Prints what a part and an answer take. */
static void print_part(int merges)
{
	printf("merge_s %.9f\nvoted_merge_s %.9f\n", merge_seconds(false, merges),
			merge_seconds(true, merges));
	printf("part_bytes %zu\nvoted_part_bytes %zu\nanswer_bytes %zu\nvoted_answer_bytes %zu\n",
			part_bytes(false), part_bytes(true), answer_bytes(false),
			answer_bytes(true));
}

/* Prints what all ranks have sent. */
static void print_sent(bool votes, int rank)
{
	const char *with = votes ? "voted_" : "";
	struct sent sum, most;

	MPI_Reduce(&sent_in[votes], &sum, 3, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	MPI_Reduce(&sent_in[votes], &most, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%smessages %.0f\n%sbytes %.0f\n%smost_sent %.0f\n%sto_first %.0f\n", with,
				sum.messages, with, sum.bytes, with, most.messages, with,
				sum.to_first);
}

static void open_payload(const char *name)
{
	void *payload = dlopen(name, RTLD_NOW);

	*(void **)&part_bytes = symbol(payload, "part_bytes");
	*(void **)&answer_bytes = symbol(payload, "answer_bytes");
	*(void **)&part_fill = symbol(payload, "part_fill");
	*(void **)&part_train = symbol(payload, "part_train");
	*(void **)&part_merge = symbol(payload, "part_merge");
	*(void **)&part_merge_votes = symbol(payload, "part_merge_votes");
}

int main(int argc, char **argv)
{
	mpi_adapter_entry *entry;
	char why[512] = "";
	int rounds = argc > 3 ? atoi(argv[3]) : 20;
	double *round = calloc((size_t)rounds, sizeof(*round));
	double *allreduce = calloc((size_t)rounds, sizeof(*allreduce));
	double *training = calloc((size_t)rounds, sizeof(*training));
	double *voted = calloc((size_t)rounds, sizeof(*voted));
	struct mpi_world world;

	MPI_Init(&argc, &argv);
	if (argc < 3)
		MPI_Abort(MPI_COMM_WORLD, 2);
	*(void **)&entry = symbol(dlopen(argv[1], RTLD_NOW), MPI_ADAPTER_ENTRY);
	open_payload(argv[2]);
	adapter = entry(dlopen(NULL, RTLD_NOW), why, sizeof(why));
	if (!adapter)
		fprintf(stderr, "%s\n", why);
	if (!adapter || adapter->open(&world))
		MPI_Abort(MPI_COMM_WORLD, 1);
	fresh = calloc(1, part_bytes(true));
	mine = calloc(1, part_bytes(true));
	all = calloc(1, part_bytes(true));
	answer = calloc(1, answer_bytes(true));
	part_fill(fresh, world.rank, world.size);
	for (int i = 0; i < rounds; i++) {
		double begin;

		/* each of the two comes first in half of the cases, and after the same rest */
		for (int j = 0; j < 2; j++) {
			bool votes = (i + j) % 2;

			doze();
			(votes ? voted : round)[i] = take_round(votes);
		}
		if (world.rank == 0)
			training[i] = part_train(mine);
		doze();

		MPI_Barrier(MPI_COMM_WORLD);
		begin = MPI_Wtime();
		MPI_Allreduce(mine, all, (int)(part_bytes(false) / sizeof(double)), MPI_DOUBLE,
				MPI_SUM, MPI_COMM_WORLD);
		MPI_Barrier(MPI_COMM_WORLD);
		allreduce[i] = MPI_Wtime() - begin;
	}
	if (world.rank == 0) {
		printf("round_s %.9f\nallreduce_s %.9f\ntraining_s %.9f\nvoted_round_s %.9f\n",
				least(round, rounds), least(allreduce, rounds),
				least(training, rounds), least(voted, rounds));
		print_part(10 * rounds);
	}
	print_sent(false, world.rank);
	print_sent(true, world.rank);
	adapter->close();
	MPI_Finalize();
	return 0;
}
