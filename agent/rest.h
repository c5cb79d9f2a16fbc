/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rests: the last step by which a thread keeps within its budget. Calls that are quick and come from a few
 * places are passed over (passed.h), and what reads and call paths may cost is limited where they are paid.
 * A program whose calls are of neither kind could still cost more than is allowed. Where a thread has spent
 * more than it may, and goes on doing so, it rests: for a while no call is looked at, wherever it comes from.
 *
 * A rest counts how long it was and how many calls were made in it. What else the thread did meanwhile is
 * estimated (rest_estimate.h). A rest ends with the first call after its time. While that is far away, the
 * calls look at a clock that is quick and goes in steps, and where calls are quick, only every REST_LOOKS-th.
 */
#ifndef PHASEMUX_AGENT_REST_H
#define PHASEMUX_AGENT_REST_H

#include <stdbool.h>
#include <stdint.h>

#include "sampling/clock.h"

#define REST_LOOKS   16
#define REST_ENDLESS UINT64_MAX /* of a thread that is not observed */

/* What the preload sees of it, in the thread's own storage. */
struct rest {
	uint64_t until; /* of CLOCK_MONOTONIC; 0: the thread does not rest; REST_ENDLESS: it never ends */
	uint64_t looked;  /* at the quick clock, the last time */
	uint64_t near;    /* ns before the end, from which on each call looks at the exact clock */
	uint32_t calls;   /* in this rest */
	uint32_t look_at; /* of these, the next one that looks at the clock */
	bool nests;       /* this thread's calls have made others that are intercepted */
};

static inline bool rest_is_endless(const struct rest *rest)
{
	return rest->until == REST_ENDLESS;
}

/*
 * Returns whether the call that begins is not looked at, and nothing is to be done when it returns. What
 * it calls itself must not be taken for calls of the program.
 */
static inline bool rest_goes_by(struct rest *rest)
{
	if (__builtin_expect(!rest->until, 1) || rest->nests || rest->calls + 1 >= rest->look_at)
		return false;
	rest->calls++;
	return true;
}

/* Returns whether the call that begins is not looked at. */
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

/* The core's side. All in ticks. */
struct rest_plan {
	uint64_t since;  /* when the rest under way began; 0: the thread does not rest */
	uint64_t until;  /* when the rest under way ends, as in struct rest */
	uint64_t wanted; /* how long the next one should be; 0: none */
	uint64_t due; /* when the next one should begin, with the first call that returns after it; drawn at random */
	uint64_t woken;  /* when the last one ended */
	double spent;    /* by calls, when the budget was looked at last ... */
	uint32_t passed; /* ... and the thread's passed_window.multiple then */
	bool noted; /* its bursts are noted, from which those of rests are estimated (rest_estimate.h) */
};

struct thread;
struct thread_rules;

/*
 * Looks whether the thread needs a rest, `elapsed` ticks after the program's start, at time now. Call on
 * the thread itself, while it is in a call.
 */
void rest_plan(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed,
		uint64_t now);

/* A call has returned, at time now, and no burst has begun: the rest that was due begins. */
void rest_begin(struct thread *thread, uint64_t now);

/* The rest under way is over, at time now. */
void rest_end(struct thread *thread, uint64_t now);

#endif
