/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program whose phases are known. Each iteration runs four of them, with a neighbour exchange after
 * each, so that every burst between two calls belongs to one phase.
 *
 *	phases [-n ITERATIONS] [-s BURSTS] [-b PERCENT] [-w PERCENT] [-c] [-l SECONDS] [-x CODE] [-k ITERATION] [-o]
 *
 *	-s  number of short bursts that come first, of 600 instructions
 *	-b  rank r computes PERCENT * r / (ranks - 1) per cent longer in the triad phase
 *	-w  the alu phase does this percentage of its work (100)
 *	-c  a world collective ends each iteration
 *	-l  time by which rank 0 comes later to MPI_Finalize
 *	-x  the exit code of rank 0 alone, because for another rank mpirun would kill it before its end
 *	-k  the iteration before which rank 0 dies by SIGKILL
 *	-o  -b is of the last rank only
 *
 * Rank 0 prints one line that depends only on the options and the number of ranks.
 */
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "work.h"

static const struct {
	const char *kernel;
	uint64_t instructions;
} phases[] = {
	{ "triad", 1500000 },
	{ "chase", 6000 },
	{ "fdiv", 300000 },
	{ "alu", 12000000 },
};

static int rank, ranks;

/* Passes a number round the ring, with blocking and non-blocking calls in turn. */
static uint64_t exchange(uint64_t token, int tag)
{
	int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
	uint64_t got = 0;

	if (tag % 2) {
		MPI_Request requests[2];
		MPI_Status statuses[2];

		MPI_Irecv(&got, 1, MPI_UINT64_T, left, tag, MPI_COMM_WORLD, &requests[0]);
		MPI_Isend(&token, 1, MPI_UINT64_T, right, tag, MPI_COMM_WORLD, &requests[1]);
		MPI_Waitall(2, requests, statuses);
	} else {
		MPI_Sendrecv(&token, 1, MPI_UINT64_T, right, tag, &got, 1, MPI_UINT64_T, left, tag,
				MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	return got * 6364136223846793005u + 1442695040888963407u;
}

int main(int argc, char **argv)
{
	int iterations = 200, shorts = 0, imbalance = 0, collective = 0, late = 0, code = 0, option;
	int alu = 100, dies = -1, only_last = 0;
	uint64_t token, total = 0;

	MPI_Init(&argc, &argv);
	while ((option = getopt(argc, argv, "n:s:b:w:cl:x:k:o")) != -1) {
		switch (option) {
		case 'n':
			iterations = atoi(optarg);
			break;
		case 's':
			shorts = atoi(optarg);
			break;
		case 'b':
			imbalance = atoi(optarg);
			break;
		case 'w':
			alu = atoi(optarg);
			break;
		case 'c':
			collective = 1;
			break;
		case 'l':
			late = atoi(optarg);
			break;
		case 'x':
			code = atoi(optarg);
			break;
		case 'k':
			dies = atoi(optarg);
			break;
		case 'o':
			only_last = 1;
			break;
		default:
			MPI_Abort(MPI_COMM_WORLD, 2);
		}
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	token = (uint64_t)rank;
	for (int i = 0; i < shorts; i++) {
		work("alu", 600);
		token = exchange(token, 0);
	}
	for (int i = 0; i < iterations; i++) {
		if (i == dies && rank == 0)
			kill(getpid(), SIGKILL);
		for (int p = 0; p < (int)(sizeof(phases) / sizeof(phases[0])); p++) {
			uint64_t instructions = phases[p].instructions;

			if (p == 0 && ranks > 1 && (!only_last || rank == ranks - 1))
				instructions += instructions * (uint64_t)(imbalance * rank) /
						(uint64_t)(100 * (ranks - 1));
			if (p == 3)
				instructions = instructions * (uint64_t)alu / 100;
			work(phases[p].kernel, instructions);
			token = exchange(token, p);
		}
		if (collective)
			MPI_Allreduce(MPI_IN_PLACE, &token, 1, MPI_UINT64_T, MPI_SUM,
					MPI_COMM_WORLD);
	}
	MPI_Reduce(&token, &total, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("phases: %d ranks, %d iterations, %016llx\n", ranks, iterations,
				(unsigned long long)total);
	if (rank == 0)
		sleep((unsigned)late);
	MPI_Finalize();
	return code;
}
