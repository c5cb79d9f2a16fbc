/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The anchor of a loop: a pair of calls, one right after the other, of which each round has exactly one, however often its
 * inner loops are executed. So from one anchor to the next is an iteration, also if its number of calls varies.
 */
#ifndef PHASEMUX_AGENT_ITERATIONS_ANCHOR_H
#define PHASEMUX_AGENT_ITERATIONS_ANCHOR_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"

struct anchor {
	uint32_t before, at; /* symbols of both calls */
};

/*
 * Returns whether each round of the loop, or each call of a row of calls, in `cell` has the pair once. A few may have it more
 * often, if the loop has hidden some rounds in its body.
 */
bool anchor_is_of(const struct loops *loops, unsigned cell, const struct anchor *anchor);

/*
 * Finds an anchor of the loop, or of the row of calls, in `cell`: one whose second call is made as rarely as possible.
 * Returns false if there is none, because all that a round has once is also in its inner loops, or is in a hole.
 */
bool anchor_find(const struct loops *loops, unsigned cell, struct anchor *anchor);

#endif
