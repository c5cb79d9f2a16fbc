/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rests: the last step by which a thread keeps its budget. Quick calls from a few places are skipped
 * (skip.h), and the cost of reads and of call paths is limited where it arises. Other calls could still cost
 * more than the budget. A thread rests if it has spent more than it may, and goes on doing so. For a while no
 * call is observed, wherever it comes from.
 *
 * The agent counts the time of a rest, and the calls made in it. What else the thread did then is estimated
 * (rest_estimate.h). A rest ends with the first call after its time. While the end is far away, calls read a
 * quick clock that goes in steps. If calls are quick, only every REST_LOOKS-th one reads it.
 */
#ifndef PHASEMUX_AGENT_BOUNDARY_REST_H
#define PHASEMUX_AGENT_BOUNDARY_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "sampling/clock.h"

#define REST_LOOKS   16
#define REST_ENDLESS UINT64_MAX /* end of the rest of a thread that is not observed */

/* The preload's part, in the thread's own storage. */
struct rest {
	uint64_t until; /* end, CLOCK_MONOTONIC; 0: the thread does not rest; REST_ENDLESS: no end */
	uint64_t looked;  /* time of the quick clock when it was last read */
	uint64_t near;    /* ns before the end from which each call reads the exact clock */
	uint32_t calls;   /* number of calls in this rest */
	uint32_t look_at; /* number of the next call that reads a clock */
	bool nests;       /* this thread's calls have made others that are intercepted */
};

static inline bool rest_is_endless(const struct rest *rest)
{
	return rest->until == REST_ENDLESS;
}

/*
 * Returns whether the call that begins is not observed, and nothing is to be done when it returns. If calls
 * nest, it returns false, so that inner calls are not taken for calls of the program.
 */
static inline bool rest_skips(struct rest *rest)
{
	if (__builtin_expect(!rest->until, 1) || rest->nests || rest->calls + 1 >= rest->look_at)
		return false;
	rest->calls++;
	return true;
}

/* Returns whether the call that begins is not observed. Ends the rest if its time is over. */
static inline bool rest_takes(struct rest *rest)
{
	uint64_t now;

	if (__builtin_expect(!rest->until, 1))
		return false;
	if (++rest->calls < rest->look_at)
		return true;
	now = clock_read(CLOCK_MONOTONIC_COARSE);
	if (rest->until > now + rest->near) {
		/* that clock goes in steps of milliseconds: some calls within one are quick */
		rest->look_at = rest->calls + (now == rest->looked ? REST_LOOKS : 1);
		rest->looked = now;
		return true;
	}
	rest->look_at = rest->calls + 1;
	if (clock_monotonic() < rest->until)
		return true;
	rest->calls--;
	rest->until = 0;
	return false;
}

#endif
