/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program whose ranks repeat loops of calls, change to another loop and back, and do something once that they never
 * did before.
 *
 *	leads [STEPS [KILLED [LONGER]]]
 *
 * Each step makes three bursts: rank r does (6 + r) / 6 times as much work as rank 0 in the first one. Every 40 steps, 10
 * steps have other calls. After three quarters of the steps come ONCE bursts with calls that come nowhere else.
 * KILLED: the step at which rank 0 dies by SIGKILL; -1: none. LONGER: the step from which messages to the right have two
 * numbers instead of one.
 *
 * If LEADS_READS names a file, each rank writes how often the scripted PMU was read in each step to FILE.RANK, a line each.
 */
#include <dlfcn.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define PERIOD 40
#define OTHERS 10
#define ONCE   12

static int rank, ranks;
static double own = 1, all;
static int numbers = 1; /* of a message to the right */

static void step(void)
{
	int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
	double sent[2] = { own, own }, got[2];

	work("triad", 100000 * (uint64_t)(6 + rank));
	MPI_Allreduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	work("alu", 4000000);
	MPI_Sendrecv(sent, numbers, MPI_DOUBLE, right, 1, got, 2, MPI_DOUBLE, left, 1,
			MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	work("alu", 4000000);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void other_step(void)
{
	work("fdiv", 80000);
	MPI_Bcast(&all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	work("fdiv", 80000);
	MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
}

static void once(void)
{
	for (int i = 0; i < ONCE; i++) {
		work("chase", 3000);
		MPI_Scan(&own, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
}

/* Returns how often the counters of this process were read so far. */
static uint64_t reads_so_far(void)
{
	static uint64_t (*calls)(const char *call);

	if (!calls)
		*(void **)&calls = dlsym(RTLD_DEFAULT, "scripted_pmu_calls");
	return calls ? calls("read") : 0;
}

/* Returns the file for the reads of each step, or NULL if there is none. */
static FILE *open_reads(void)
{
	const char *name = getenv("LEADS_READS");
	char path[4096];

	snprintf(path, sizeof(path), "%s.%d", name ? name : "", rank);
	return name ? fopen(path, "w") : NULL;
}

int main(int argc, char **argv)
{
	uint64_t before, now;
	FILE *reads;
	int steps = argc > 1 ? atoi(argv[1]) : 400, killed = argc > 2 ? atoi(argv[2]) : -1,
	    longer = argc > 3 ? atoi(argv[3]) : -1;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	reads = open_reads();
	before = reads ? reads_so_far() : 0;
	for (int i = 0; i < steps; i++) {
		if (i == killed && rank == 0)
			raise(SIGKILL);
		if (i == longer)
			numbers = 2;
		if (i == steps * 3 / 4)
			once();
		if (i % PERIOD >= PERIOD - OTHERS)
			other_step();
		else
			step();
		if (!reads)
			continue;
		now = reads_so_far();
		fprintf(reads, "%llu\n", (unsigned long long)(now - before));
		before = now;
	}
	if (reads)
		fclose(reads);
	if (rank == 0)
		printf("leads: %d ranks, %d steps\n", ranks, steps);
	MPI_Finalize();
	return 0;
}
