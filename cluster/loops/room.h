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

#endif
