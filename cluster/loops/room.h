/* SPDX-License-Identifier: BSD-3-Clause */
/* Keeps the text within its memory. */
#ifndef PHASEMUX_CLUSTER_LOOPS_ROOM_H
#define PHASEMUX_CLUSTER_LOOPS_ROOM_H

#include <stdbool.h>

#include "cluster/loops/arena.h"

/*
 * Compares all tokens of the top level again, from the first one on, and makes loops of rounds
 * that differ (rule 7 of reduce.h).
 */
void room_finish(struct loops *loops);

/*
 * Makes room for the next token. If there are many new tokens, all are compared again. If few cells
 * are free, then the oldest tokens become holes, of which only the number of calls and their times
 * stay known. A loop that holds a large part of all calls becomes a hole only if nothing else is
 * left.
 */
void room_make(struct loops *loops);

/*
 * Adds a hole of calls that were not observed to the text, or to the last hole if only few calls are between
 * them. These become part of it, because nothing can be folded from so few. `times` are those of the calls.
 */
void room_add_hole(struct loops *loops, const struct loops_slot *times);

#endif
