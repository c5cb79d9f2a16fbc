/* SPDX-License-Identifier: BSD-3-Clause */
/* The quanta of a thread: which group it counts, and until when. */
#ifndef PHASEMUX_AGENT_BURSTS_TURN_H
#define PHASEMUX_AGENT_BURSTS_TURN_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/thread/thread.h"

/*
 * Starts the next quantum at time now, and enables its group. Returns false if it cannot. within: how many quanta
 * the burst under way has had before; 0: the quantum starts with a burst. Caller has the turn, if there are any.
 */
bool turn_next(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		unsigned within);

/*
 * Disables the group until the next quantum, so that it takes no samples in bursts that are not read. Does nothing while
 * another thread has the turn. Call on the thread itself, between two bursts.
 */
void turn_stop(struct thread *thread, const struct thread_rules *rules);

#endif
