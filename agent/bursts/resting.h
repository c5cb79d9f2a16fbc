/* SPDX-License-Identifier: BSD-3-Clause */
/* The core's half of rests (rest.h): plans, begins and ends them. Call all functions on the thread itself. */
#ifndef PHASEMUX_AGENT_BURSTS_RESTING_H
#define PHASEMUX_AGENT_BURSTS_RESTING_H

#include <stdint.h>

#include "agent/thread/thread.h"

/*
 * Plans a rest if the thread needs one, `elapsed` ticks after the program's start, at time now. Call on the
 * thread itself, while it is in a call.
 */
void resting_plan(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed,
		uint64_t now);

/* Begins the rest that was due. Call at time now, when a call has returned and before a burst begins. */
void resting_begin(struct thread *thread, uint64_t now);

/* Ends the rest under way, at time now. */
void resting_end(struct thread *thread, uint64_t now);

#endif
