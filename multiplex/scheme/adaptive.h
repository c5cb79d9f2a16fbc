/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adaptive scheme: a process gives more quanta to the groups whose counters are least known,
 * weighted by relevance, over its phases. The state belongs to one process, and is plain data.
 */
#ifndef PHASEMUX_MULTIPLEX_SCHEME_ADAPTIVE_H
#define PHASEMUX_MULTIPLEX_SCHEME_ADAPTIVE_H

#include <stdint.h>

#include "multiplex/estimate/sums.h"
#include "multiplex/plan.h"

struct adaptive {
	unsigned groups;
	unsigned learnt;               /* number of calls of adaptive_learn */
	double share[PLAN_GROUPS_MAX]; /* each group's share of the quanta; they sum to 1 */
};

/* Starts with equal shares. */
void adaptive_init(struct adaptive *adaptive, unsigned groups);

/*
 * Sets the shares from the process' own sums. phase[p] is the phase of prototype p (0: none); NULL:
 * every prototype is a phase. Every group keeps half of an equal share, so that in the long run every group is
 * counted in every phase. Costs about prototypes x events multiplications, so do not call it at every quantum,
 * but after 2, 4, 8, ... rounds of the groups.
 */
void adaptive_learn(struct adaptive *adaptive, const struct sums *sums, const uint32_t *phase);

/* Returns the group whose part contains `at`, 0 <= at < 1, when the shares are laid end to end. */
unsigned adaptive_group(const struct adaptive *adaptive, double at);

#endif
