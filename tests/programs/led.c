/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program whose ranks differ at random, and that tells what the scripted PMU's events really counted.
 *
 *	led STEPS SEED SPREAD
 *
 * Each step has a burst of each of three kinds. How much work a rank does in a kind is drawn from a normal distribution with
 * the relative deviation SPREAD, and each burst deviates by a twentieth from that. At the end rank 0 prints for each kind
 * the number of bursts of all ranks, and what all of them together have counted of each event:
 *
 *	truth KIND BURSTS EVENT TOTAL
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <math.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

#define KINDS     3
#define EVENTS    (int)(sizeof(events) / sizeof(events[0]))
#define DEVIATION 0.05 /* of each burst */

static const struct {
	const char *name;
	uint64_t config;
} events[] = {
	{ "ls_not_halted_cyc", 0x76 },
	{ "ex_ret_instr", 0xc0 },
	{ "ex_ret_ops", 0xc1 },
	{ "ex_ret_brn", 0xc2 },
	{ "de_src_op_disp.all", 0x7aa },
	{ "ex_no_retire.not_complete", 0x2d6 },
	{ "ls_dispatch.ld_dispatch", 0x129 },
	{ "ls_dispatch.store_dispatch", 0x229 },
};

static const struct {
	const char *behaviour;
	double instructions;
} kinds[KINDS] = { { "triad", 400000 }, { "alu", 2000000 }, { "fdiv", 20000 } };

static uint64_t state;
static double factor[KINDS]; /* of this rank */
static double total[KINDS][EVENTS];
static double (*total_of)(uint32_t type, uint64_t config);

static double uniform(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	double radius = sqrt(-2 * log(uniform()));

	return radius * cos(2 * 3.14159265358979323846 * uniform());
}

/* Executes a burst of a kind, and adds what it counts. */
static void burst(int kind)
{
	double before[EVENTS], size = factor[kind] * (1 + DEVIATION * normal());

	for (int i = 0; i < EVENTS; i++)
		before[i] = total_of(PERF_TYPE_RAW, events[i].config);
	work(kinds[kind].behaviour, (uint64_t)(kinds[kind].instructions * fabs(size)));
	for (int i = 0; i < EVENTS; i++)
		total[kind][i] += total_of(PERF_TYPE_RAW, events[i].config) - before[i];
}

int main(int argc, char **argv)
{
	double own = 1, sum[KINDS][EVENTS];
	int rank, ranks, steps = argc > 3 ? atoi(argv[1]) : 0;

	*(void **)&total_of = dlsym(RTLD_DEFAULT, "scripted_pmu_total");
	MPI_Init(&argc, &argv);
	if (argc != 4 || !total_of)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	state = (strtoull(argv[2], NULL, 10) * 4096 + (uint64_t)rank) * 0x9e3779b97f4a7c15u;
	for (int i = 0; i < 10 + KINDS;
			i++) /* the first numbers depend on the seed almost linearly */
		factor[i % KINDS] = 1 + atof(argv[3]) * normal();
	for (int i = 0; i < steps; i++) {
		burst(0);
		MPI_Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
		burst(1);
		MPI_Bcast(&own, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		burst(2);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Reduce(total, sum, KINDS * EVENTS, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	for (int kind = 0; rank == 0 && kind < KINDS; kind++)
		for (int i = 0; i < EVENTS; i++)
			printf("truth %s %d %s %.17g\n", kinds[kind].behaviour, steps * ranks,
					events[i].name, sum[kind][i]);
	MPI_Finalize();
	return 0;
}
