/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How counters evolve within a phase (thesis A.5.2): samples of many bursts, each at its place in
 * its burst, folded into one. A burst that is whole gives points of the curve of what was counted up
 * to there, as a share of its total; a slice of a long one gives its rate. What is kept are sums per
 * prototype, event and place, of the first prototypes that were sampled: those that take time.
 *
 * One caller at a time.
 */
#ifndef PHASEMUX_AGENT_FOLD_H
#define PHASEMUX_AGENT_FOLD_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/counting.h"
#include "cluster/prototypes.h"
#include "multiplex/plan.h"

#define FOLD_BINS   16
#define FOLD_PHASES 32

struct fold;

/* For the events of the plan, which must outlive it; NULL without memory. */
struct fold *fold_new(const struct plan *plan);
void fold_free(struct fold *fold);

/* Of the memory that it has touched. */
size_t fold_bytes(const struct fold *fold);

/*
 * A sample at `place` (0 to 1, of the processor's time) of a burst: what its group's events had counted there since the
 * burst's begin, and what they counted in all of it.
 */
void fold_sample(struct fold *fold, unsigned prototype, unsigned group, double place,
		const uint64_t *until, const uint64_t *all);

/* A slice in the middle of which is `place`: its length and counts. */
void fold_slice(struct fold *fold, unsigned prototype, unsigned group, double place, double ticks,
		const uint64_t *values);

/*
 * By phase, as an array of doubles, to be added over the processes: of those numbered 1 to FOLD_PHASES
 * in the table. fold NULL: zeros. Owned by the caller; NULL without memory.
 */
double *fold_sums(const struct fold *fold, const struct plan *plan,
		const struct prototype_table *table);
size_t fold_sums_length(const struct plan *plan, const struct prototype_table *table);

/*
 * The report's "fold" of a phase: each event's rate at FOLD_BINS places, as a multiple of its mean
 * rate; null where nothing was sampled. sums: of fold_sums, or NULL. The caller owns it.
 */
json_t *fold_of_phase(const double *sums, const struct counting *counting, uint32_t phase);

#endif
