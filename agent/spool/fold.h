/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows how counters evolve within a phase (thesis A.5.2). Samples of many bursts, each at its place in its
 * burst, are folded into one. A sample in a whole burst gives a point of the curve of the counts up to there,
 * as a share of the burst's total. A slice of a long burst gives a rate. The fold keeps sums per prototype,
 * event and place, for the prototypes that were sampled first, which are those that take time.
 *
 * These functions are for one caller at a time.
 */
#ifndef PHASEMUX_AGENT_SPOOL_FOLD_H
#define PHASEMUX_AGENT_SPOOL_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/prototypes.h"
#include "multiplex/plan.h"

#define FOLD_BINS   16
#define FOLD_PHASES 32

struct fold;

/* Returns an empty fold for the events of the plan, which must outlive it; NULL without memory. */
struct fold *fold_new(const struct plan *plan);
void fold_free(struct fold *fold);

/* Returns the bytes of memory that the fold has touched. */
size_t fold_bytes(const struct fold *fold);

/*
 * Adds a sample at `place` of a burst (0 to 1, as a share of its CPU time). until: counts of the group's events
 * from the start of the burst to the sample. all: their counts in the whole burst.
 */
void fold_sample(struct fold *fold, unsigned prototype, unsigned group, double place,
		const uint64_t *until, const uint64_t *all);

/* Adds a slice, whose middle is at `place` of its burst, with its length in ticks and its counts. */
void fold_slice(struct fold *fold, unsigned prototype, unsigned group, double place, double ticks,
		const uint64_t *values);

/*
 * Returns the sums by phase, for the phases 1 to FOLD_PHASES of the table, as an array of doubles that
 * processes add. fold NULL: zeros. The caller owns the array. Returns NULL without memory.
 */
double *fold_sums(const struct fold *fold, const struct plan *plan,
		const struct prototype_table *table);
size_t fold_sums_length(const struct plan *plan, const struct prototype_table *table);

/* What was sampled of a phase. Nearly all samples of a phase are of one kind. */
struct fold_summary {
	unsigned kind;
	const char *kind_name; /* name of the kind: "bursts" or "slices" */
	double samples;        /* number of samples of the kind */
};

/* Summarizes what was sampled of a phase. sums: from fold_sums, or NULL. Returns false if that is too little. */
bool fold_summarize(const double *sums, const struct plan *plan, uint32_t phase,
		struct fold_summary *summary);

/*
 * Fills the rate of an event at FOLD_BINS places of a phase's bursts, as a multiple of its mean rate. A rate
 * is not finite if nothing was sampled there. kind: from fold_summarize. Returns false if there are too few
 * samples.
 */
bool fold_rates(const double *sums, const struct plan *plan, uint32_t phase, unsigned kind,
		unsigned event, double rates[FOLD_BINS]);

#endif
