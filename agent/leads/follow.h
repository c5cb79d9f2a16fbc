/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows the calls of a loop without its counts: which call of the loop's body may come after which. A round may
 * execute an inner loop any number of times, at least once. So a solver that needs another number of steps goes on as
 * before, and a call that the loop does not have, or has elsewhere, does not fit.
 *
 * If a call is at several places of the body, what may come after it at any of them fits. So what is checked are pairs of
 * calls, between which a burst is.
 *
 * The struct is plain data. It does not refer to the text that it was made of.
 */
#ifndef PHASEMUX_AGENT_LEADS_FOLLOW_H
#define PHASEMUX_AGENT_LEADS_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"

#define FOLLOW_CALLS_MAX 120 /* calls of a loop's text */
#define FOLLOW_NEXT_MAX  7   /* calls that may come after one */
#define FOLLOW_LOST      UINT16_MAX

struct follow_call {
	uint32_t symbol;
	uint8_t nexts;
	uint8_t next[FOLLOW_NEXT_MAX]; /* numbers of calls */
};

struct follow {
	uint16_t calls;
	uint16_t at; /* number of the last call; FOLLOW_LOST: not known */
	struct follow_call call[FOLLOW_CALLS_MAX];
};

/*
 * Makes a follower of the loop in `cell`, whose last round has just ended. A call that is repeated in a row is a loop of
 * one call. Returns false if the loop has a hole, or more calls than there is room for.
 */
bool follow_make(struct follow *follow, const struct loops *loops, unsigned cell);

/* Goes to the first call that has the symbol. Returns false if the loop does not have it, and then stays. */
bool follow_start(struct follow *follow, uint32_t symbol);

/* Goes to a call that comes right after a call `last`. Returns false if the loop has no such pair, and then stays. */
bool follow_join(struct follow *follow, uint32_t last, uint32_t symbol);

/* Goes to a call that is not the first one that may come. The cold part of follow_step. */
bool follow_search(struct follow *follow, uint32_t symbol);

/* Goes to the call that comes. Returns false if it does not fit, and then stays. */
static inline bool follow_step(struct follow *follow, uint32_t symbol)
{
	const struct follow_call *last = &follow->call[follow->at % FOLLOW_CALLS_MAX];

	if (__builtin_expect(follow->at == FOLLOW_LOST ||
					    follow->call[last->next[0]].symbol != symbol,
			    0))
		return follow_search(follow, symbol);
	follow->at = last->next[0];
	return true;
}

/* Notes that calls were not observed: the next one may be any call of the loop. */
static inline void follow_lose(struct follow *follow)
{
	follow->at = FOLLOW_LOST;
}

/* Returns whether the loop has the call. */
bool follow_has(const struct follow *follow, uint32_t symbol);

#endif
