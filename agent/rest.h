/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rests: the last step by which a thread keeps its budget. Quick calls from a few places are skipped
 * (passed.h), and the cost of reads and of call paths is limited where it arises. Other calls could still cost
 * more than the budget. A thread rests if it has spent more than it may, and goes on doing so. For a while no
 * call is observed, wherever it comes from.
 *
 * The agent counts the time of a rest, and the calls made in it. What else the thread did then is estimated
 * (rest_estimate.h). A rest ends with the first call after its time. While the end is far away, calls read a
 * quick clock that goes in steps. If calls are quick, only every REST_LOOKS-th one reads it.
 */
#ifndef PHASEMUX_AGENT_REST_H
#define PHASEMUX_AGENT_REST_H

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
static inline bool rest_goes_by(struct rest *rest)
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

/* The core's part. All times in ticks. */
struct rest_plan {
	uint64_t since;  /* when the rest under way began; 0: the thread does not rest */
	uint64_t until;  /* when the rest under way ends, as in struct rest (ns) */
	uint64_t wanted; /* length of the next rest; 0: none is wanted */
	uint64_t due; /* random time; the next rest begins with the first call that returns after it */
	uint64_t woken;  /* when the last rest ended, or the budget was last checked */
	double spent;    /* cost of calls when the budget was last checked */
	uint32_t passed; /* the thread's passed_window.multiple at that time */
	bool noted; /* bursts are noted, from which those of rests are estimated (rest_estimate.h) */
};

struct thread;
struct thread_rules;

/*
 * Plans a rest if the thread needs one, `elapsed` ticks after the program's start, at time now. Call on the
 * thread itself, while it is in a call.
 */
void rest_plan(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed,
		uint64_t now);

/* Begins the rest that was due. Call at time now, when a call has returned and before a burst begins. */
void rest_begin(struct thread *thread, uint64_t now);

/* Ends the rest under way, at time now. */
void rest_end(struct thread *thread, uint64_t now);

#endif
