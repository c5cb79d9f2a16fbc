/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which rounds of long loops are gone through, and how many rounds each of them stands for. A loop's first and last rounds
 * stand for themselves. The others are divided into strata of equal length, of each of which some rounds in a row are taken,
 * from a place that is drawn at random (stratified sampling: Cochran 5, docs/references.md). All ranks take the same rounds of
 * loops that have the same number of them. So do loops in these rounds, so that what is left out is a part of each level.
 */
#ifndef PHASEMUX_TOOLS_REPLAY_PLAN_SAMPLE_H
#define PHASEMUX_TOOLS_REPLAY_PLAN_SAMPLE_H

#include "tools/replay/plan/plan.h"

#define SAMPLE_STRATA  8
#define SAMPLE_WINDOWS (SAMPLE_STRATA + 2)

/* Numbers of rounds that differ by no more are taken for those of one loop, whose first round is a part of another token. */
#define SAMPLE_NEAR 2

/* Loops of which some rounds are left out. */
struct sample_loop {
	uint64_t rounds, window; /* window: rounds in a row that are taken */
};

struct sample {
	uint64_t seed;
	size_t loops;
	struct sample_loop *loop; /* in the order of their rounds */
};

/* Rounds that are taken, and how many each of them stands for. */
struct sample_window {
	uint64_t first, count;
	double weight;
};

/*
 * Finds the long loops of a plan. calls: of a rank in a window, which is one round if that has more; 0: no loop is long. Returns
 * false without memory. Call sample_fini() also then.
 */
bool sample_init(struct sample *sample, const struct plan *plan, uint64_t calls, uint64_t seed);

/* Returns the long loop that has a number of rounds, or NULL. */
const struct sample_loop *sample_find(const struct sample *sample, uint64_t rounds);

/* Returns the n-th window of a long loop that has this number of rounds. */
struct sample_window sample_window(const struct sample *sample, const struct sample_loop *loop,
		uint64_t rounds, unsigned n);

/* Returns how many calls of all ranks are gone through. sample: NULL: nothing is left out. */
double sample_calls(const struct sample *sample, const struct plan *plan);

/*
 * Returns how many calls a window may have so that no more than `most` calls are gone through, if that is possible; 0: nothing
 * is left out.
 */
uint64_t sample_choose(const struct plan *plan, double most);

void sample_fini(struct sample *sample);

#endif
