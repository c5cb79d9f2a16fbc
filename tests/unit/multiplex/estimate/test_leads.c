/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the estimates of ranks that differ, if one of them is a lead and the others read only at first: how often the
 * intervals cover what all ranks executed, and how much wider they would be without sums_stand_for.
 */
#include "tests/tap.h"

#include <stdlib.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/mix.h"

enum {
	TRIALS = 300,
	RANKS = 4,
	BURSTS = 1000,
	FIRST = 96,
	PER_QUANTUM = 4,
	EVENTS = 6,
	GROUPS = 2
};

/* How much the ranks differ: rank r executes 1 + apart x r times as much as rank 0. */
static double apart;
/* Delays of bursts by another program: the share by which those that are not read are longer. */
static double late;

struct truth {
	double total[EVENTS], bursts;
	double unread; /* seconds of bursts that were not read */
};

static double normal(uint64_t *state)
{
	double u = 1 - mix_uniform(state), v = mix_uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Draws a burst of a rank. Instructions depend on the rank, and all other events on them, and vary. */
static void draw(unsigned rank, double quantum, uint64_t *state, uint64_t values[EVENTS])
{
	double size = (1 + apart * rank) * (1 + .05 * quantum + .05 * normal(state));

	values[1] = (uint64_t)(1e6 * size);
	values[0] = (uint64_t)(2e6 * size * (1 + .1 * normal(state)));
	for (unsigned e = 2; e < EVENTS; e++)
		values[e] = (uint64_t)(1e4 * e * size * fabs(1 + .2 * normal(state)));
}

/* Adds what a rank executes to the truth, and what it reads to its sums. reads: number of its first bursts that are read. */
static void run(unsigned rank, unsigned reads, struct sums *sums, const struct plan *plan,
		uint64_t *state, struct truth *truth)
{
	struct quantum *quantum = quantum_new(sums);
	double shared = 0;

	quantum_label(quantum, 0, 1);
	for (unsigned i = 0; i < BURSTS; i++) {
		uint64_t values[EVENTS], read[PLAN_GROUP_EVENTS_MAX];
		unsigned group = (i / PER_QUANTUM + rank) % GROUPS;

		if (i % PER_QUANTUM == 0) {
			quantum_close(quantum, sums);
			shared = normal(state);
		}
		draw(rank, shared, state, values);
		for (unsigned e = 0; e < EVENTS; e++)
			truth->total[e] += (double)values[e];
		truth->bursts++;
		if (i >= reads) {
			truth->unread += 1e-9 * (double)values[0] * (1 + late);
			continue;
		}
		for (unsigned p = 0; p < plan->group[group].count; p++)
			read[p] = values[plan->group[group].event[p]];
		quantum_add(quantum, 0,
				&(struct quantum_burst){ group, GROUPS, 1, 1e-9 * (double)values[0],
						read, false, i });
	}
	quantum_close(quantum, sums);
	quantum_free(quantum);
}

static void add_sums(struct sums *into, struct sums *from)
{
	for (size_t i = 0; i < sums_length(into); i++)
		sums_flat(into)[i] += sums_flat(from)[i];
}

/* How the estimates of some runs compare with the truth, for each event. */
struct tally {
	unsigned covered[EVENTS]; /* runs in which the interval covers it */
	double half[EVENTS];      /* sum of the relative half-widths of the intervals */
};

/* Makes a run of all ranks, of which rank `lead` reads all, and adds it to the tally. */
static void estimate(unsigned lead, bool stand, uint64_t *state, struct tally *tally)
{
	static const bool member[1] = { true };
	struct truth truth = { .bursts = 0 };
	struct phase_estimate phase;
	struct phase_unread unread = { .bursts = (RANKS - 1) * (BURSTS - FIRST) };
	struct sums *all = NULL;
	struct plan plan;

	plan_pack(&plan, EVENTS, 2, 4, NULL);
	for (unsigned rank = 0; rank < RANKS; rank++) {
		struct sums *own = sums_new(&plan, 1);
		unsigned reads = rank == lead ? BURSTS : FIRST;

		run(rank, reads, own, &plan, state, &truth);
		if (stand)
			sums_stand_for(own, member, BURSTS - reads);
		if (all) {
			add_sums(all, own);
			sums_free(own);
		} else {
			all = own;
		}
	}
	/* the time of bursts that were not read is known */
	unread.seconds = truth.unread;
	estimate_phase(all, member, &unread, &phase);
	for (unsigned e = 0; e < EVENTS; e++) {
		double mean = truth.total[e] / truth.bursts, half = phase.event[e].ci95;

		tally->covered[e] += fabs(phase.event[e].mean - mean) <= half;
		tally->half[e] += half / mean;
	}
	sums_free(all);
}

/*
 * Returns in which share of the runs the interval of the event that is covered least covers the truth. half: gets the
 * mean relative half-width of the event whose intervals are widest.
 */
static double coverage(double differ, bool stand, double *half)
{
	struct tally tally = { 0 };
	uint64_t state = 5;
	double least = 1;

	apart = differ;
	*half = 0;
	for (unsigned i = 0; i < TRIALS; i++)
		estimate(i % RANKS, stand, &state, &tally);
	/* no fmin() and fmax() in this loop: the compiler for ARM64 of Debian 12 (12.2) fails on it */
	for (unsigned e = 0; e < EVENTS; e++) {
		double share = (double)tally.covered[e] / TRIALS, width = tally.half[e] / TRIALS;

		if (share < least)
			least = share;
		if (width > *half)
			*half = width;
	}
	return least;
}

static void test_identity(void)
{
	static const bool member[1] = { true };
	struct truth truth = { .bursts = 0 };
	struct sums *one, *other;
	uint64_t state = 3, same = 3;
	struct plan plan;
	bool equal = true;

	plan_pack(&plan, EVENTS, 2, 4, NULL);
	one = sums_new(&plan, 1);
	other = sums_new(&plan, 1);
	run(0, BURSTS, one, &plan, &state, &truth);
	run(0, BURSTS, other, &plan, &same, &truth);
	sums_stand_for(other, member, 0);
	for (size_t i = 0; i < sums_length(one); i++)
		equal = equal &&
				fabs(sums_flat(one)[i] - sums_flat(other)[i]) <=
						1e-9 * fabs(sums_flat(one)[i]);
	ok(equal, "a rank that read all its bursts stands for them as they are");
	sums_free(one);
	sums_free(other);
}

/* A rank may leave its bursts to others only when it has read some in each group. */
static void test_all_groups(void)
{
	static const bool member[1] = { true }, none[1] = { false };
	struct truth truth = { .bursts = 0 };
	uint64_t state = 3;

	for (unsigned quanta = GROUPS - 1; quanta <= GROUPS; quanta++) {
		struct plan plan;
		struct sums *sums;

		plan_pack(&plan, EVENTS, 2, 4, NULL);
		sums = sums_new(&plan, 1);
		run(0, quanta * PER_QUANTUM, sums, &plan, &state, &truth);
		is_int(sums_have_all_groups(sums, member), quanta == GROUPS,
				quanta == GROUPS ? "it has read in all groups" :
						   "it lacks a group");
		is_int(sums_have_all_groups(sums, none), false,
				"it has read nothing of other phases");
		sums_free(sums);
	}
}

int main(void)
{
	double share, half, alike;

	test_identity();
	test_all_groups();
	share = coverage(0, true, &half);
	ok(share >= .9, "equal ranks: the intervals cover the truth in %.1f%% of the runs",
			100 * share);
	share = coverage(.1, true, &half);
	ok(share >= .9, "ranks that differ by a tenth: in %.1f%%", 100 * share);
	share = coverage(1, true, &half);
	ok(share >= .9, "ranks of which one does four times as much as another: in %.1f%%",
			100 * share);
	late = .02;
	share = coverage(.1, true, &half);
	ok(share >= .9, "bursts that are delayed by 2%% after a rank has stopped reading: in %.1f%%",
			100 * share);
	late = 0;
	coverage(1, true, &half);
	coverage(1, false, &alike);
	ok(alike > 2 * half, "intervals are +-%.1f%%, and +-%.1f%% if each read burst counts alike",
			100 * half, 100 * alike);
	return tap_done();
}
