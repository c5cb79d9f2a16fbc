/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The adaptive scheme: a process gives more quanta to the groups whose counters are least known,
 * weighted by relevance, over the phases that it sees. State of one process; plain data.
 */
#ifndef PHASEMUX_MULTIPLEX_ADAPTIVE_H
#define PHASEMUX_MULTIPLEX_ADAPTIVE_H

#include <stdint.h>

#include "multiplex/plan.h"
#include "multiplex/sums.h"

struct adaptive {
	unsigned groups;
	unsigned learnt;               /* times that it has learnt */
	double share[PLAN_GROUPS_MAX]; /* of the quanta; sums to 1 */
};

/* Starts with equal shares. */
void adaptive_init(struct adaptive *adaptive, unsigned groups);

/*
 * Sets the shares from the process' own sums. phase[p] is the phase of prototype p (0: none); NULL:
 * every prototype is a phase. Every group keeps half of an equal share, so that in the long
 * run every group is seen in every phase. Costs about prototypes x events multiplications: call it
 * now and then (after 2, 4, 8, ... rounds of the groups), not at every quantum.
 */
void adaptive_learn(struct adaptive *adaptive, const struct sums *sums, const uint32_t *phase);

/* The group that has `at`, 0 <= at < 1, when the shares are laid end to end. */
unsigned adaptive_group(const struct adaptive *adaptive, double at);

#endif
