/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates what a thread did in its rests (rest.h), in which no call is observed. A run is divided into
 * windows of about WINDOW_NS of observed time, with the rests between them. In the rests of a window the thread
 * is taken to have done the same as in its observed time, in proportion. This holds for bursts of each span and
 * length, short bursts, polling, and time inside MPI. It is a ratio estimate by strata of time (Cochran 6.10).
 * The variances of the bursts' number and time come from the differences between successive windows (Cochran
 * 8.11).
 *
 * Estimated bursts are added to those that were not read, and are placed with them (unread.h).
 *
 * The thread itself calls these functions. A thread that never rests pays one test for each burst.
 */
#ifndef PHASEMUX_AGENT_BURSTS_REST_ESTIMATE_H
#define PHASEMUX_AGENT_BURSTS_REST_ESTIMATE_H

#include <stdint.h>

#include "agent/thread/thread.h"

/* Starts the first window, or a new one, at time now. */
void rest_estimate_start(struct thread *thread, uint64_t now);

/*
 * Begins a rest at time now, when the first call returns after the rest was due. The observed time ends at
 * `due`, so that it ends at random, and not after what takes long. What began before `due` counts in full.
 */
void rest_estimate_begin(struct thread *thread, uint64_t due, uint64_t now);

/*
 * Ends the rest at time `end`. The first call since then begins at time now. What was under way between these
 * times began in the rest.
 */
void rest_estimate_end(struct thread *thread, uint64_t end, uint64_t now);

/*
 * Closes the window, if it has lasted for long enough. Call from time to time while the thread does not rest,
 * but not just before a rest, because the rest is estimated from its window.
 */
void rest_estimate_look(struct thread *thread, uint64_t now);

/* Closes the last window of a thread that ends or is observed no more. */
void rest_estimate_finish(struct thread *thread, uint64_t now);

/*
 * Adds `bursts` bursts of a span, and of `ticks` ticks together, to the window. number: of their length in the
 * thread's table. Call only after rest_estimate_start.
 */
void rest_estimate_note(struct rest_estimate *estimate, uint32_t span, unsigned number,
		uint64_t bursts, uint64_t ticks);

/* Calls rest_estimate_note if a rest of the thread is likely. */
static inline void rest_estimate_add(struct thread *thread, uint32_t span, unsigned number,
		uint64_t bursts, uint64_t ticks)
{
	if (__builtin_expect(thread->resting.noted, 0))
		rest_estimate_note(&thread->estimate, span, number, bursts, ticks);
}

#endif
