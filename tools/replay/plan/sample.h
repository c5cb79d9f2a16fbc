/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rounds of long loops are gone through, and how many rounds each of them stands for. A loop's first and last rounds
 * stand for themselves. The others are divided into strata of equal length, of each of which some rounds in a row are taken,
 * from a place that is drawn at random (stratified sampling: Cochran 5, docs/references.md). All ranks take the same
 * rounds of loops that have the same number of them.
 */
#ifndef PHASEMUX_TOOLS_REPLAY_PLAN_SAMPLE_H
#define PHASEMUX_TOOLS_REPLAY_PLAN_SAMPLE_H

#include "tools/replay/plan/plan.h"

#define SAMPLE_STRATA  8
#define SAMPLE_WINDOWS (SAMPLE_STRATA + 2)

/* Numbers of rounds that differ by no more are taken for those of one loop, whose first round is a part of another token. */
#define SAMPLE_NEAR 2

struct sample {
	uint64_t window, seed; /* window: rounds in a row that are taken */
	size_t loops;
	uint64_t *rounds; /* of long loops, each number once, in order */
};

/* Rounds that are taken, and how many each of them stands for. */
struct sample_window {
	uint64_t first, count;
	double weight;
};

/* Finds the loops of a plan that are long for a window. Returns false without memory. Call sample_fini() also then. */
bool sample_init(struct sample *sample, const struct plan *plan, uint64_t window, uint64_t seed);

/* Says whether some rounds of a loop are left out. */
bool sample_is_long(const struct sample *sample, uint64_t rounds);

/* Returns the n-th window of a loop with this number of rounds, of which some are left out. */
struct sample_window sample_window(const struct sample *sample, uint64_t rounds, unsigned n);

/* Returns how many calls of all ranks are gone through with windows of this length. 0: with all rounds. */
double sample_calls(const struct plan *plan, uint64_t window);

/* Returns the longest window with which no more than `most` calls are gone through, if there is one; 0: all rounds are. */
uint64_t sample_choose(const struct plan *plan, double most);

void sample_fini(struct sample *sample);

#endif
