/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of one thread, folded into nested loops while they come. A call is a number that stands
 * for its path, and its times. The text of the calls (cluster/loops/arena.h) is at the same time
 * the trace of the thread in a few kilobytes, and the clock that counts its iterations.
 *
 * While a program repeats a loop of at most LOOPS_ROUND_MAX calls, a call is one comparison with
 * the call that is expected, and its times are noted; when a round is complete, the times are added
 * to the slots of the loop. If another call comes, the calls of the round that has begun become
 * part of the text behind the loop, and the end of the text is folded (cluster/loops/reduce.h).
 *
 * What the text says is exact, except where it says that it is not: calls in holes are not known
 * (LOOPS_ANY), and counts of loops may be lost from the call `exact` on. cluster/loops/expand.h
 * gives the calls back.
 */
#ifndef PHASEMUX_CLUSTER_LOOPS_LOOPS_H
#define PHASEMUX_CLUSTER_LOOPS_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"

/*
 * Makes an empty text of a struct of zeros, for example of memory that was just mapped. Memory that
 * the text does not need is never touched. Nothing has to be freed.
 */
void loops_init(struct loops *loops);

/* Adds a call that is not expected, or that completes a round. The cold part of loops_add. */
void loops_add_cold(struct loops *loops, uint32_t symbol, uint64_t burst, uint64_t inside);

/* Returns whether the round under way expects a call, and is not complete with it. */
static inline bool loops_expects(const struct loops *loops, uint32_t symbol)
{
	return loops->at + 1 < loops->length && loops->expected[loops->at] == symbol;
}

/* Adds a call that loops_expects. */
static inline void loops_advance(struct loops *loops, uint32_t symbol, uint64_t burst,
		uint64_t inside)
{
	loops->pending[loops->at++] = (struct loops_pending){ burst, inside, symbol };
	loops->calls++;
}

/*
 * Adds a call. symbol: its path, below LOOPS_ANY. burst, inside: ticks of the burst before it, and
 * of the call. It takes about ten ns in a loop, and in the mean up to 0.7 us where calls have no
 * structure. Then a single call may take a millisecond, when all tokens are compared again. This
 * becomes the rarer the less it helps.
 */
static inline void loops_add(struct loops *loops, uint32_t symbol, uint64_t burst, uint64_t inside)
{
	if (__builtin_expect(loops_expects(loops, symbol), 1))
		loops_advance(loops, symbol, burst, inside);
	else
		loops_add_cold(loops, symbol, burst, inside);
}

/*
 * Adds `calls` calls (> 0) that were not observed. Only their number is known, and the ticks of their bursts and
 * of the calls together. They are a hole in the text.
 */
void loops_skip(struct loops *loops, uint64_t calls, uint64_t burst, uint64_t inside);

/*
 * Makes the calls of an incomplete round part of the text, and folds what is left to be folded.
 * Call before the text is read. More calls may be added later; the text stays as exact as it was.
 */
void loops_finish(struct loops *loops);

#endif
