/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a thread's counters at the two ends of a burst, and changes its group when a quantum is over.
 */
#ifndef PHASEMUX_AGENT_BURSTS_READING_H
#define PHASEMUX_AGENT_BURSTS_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/thread/thread.h"

/*
 * Reads the counters for a burst that begins at *now, and moves *now past that. Returns false if they are not
 * read.
 */
bool reading_begin(struct thread *thread, const struct thread_rules *rules, uint64_t *now);

/* Reads the counters at the end of a burst. Returns the time after that. */
uint64_t reading_end(struct thread *thread, const struct thread_rules *rules, uint64_t now);

/*
 * Reads the counters of the burst that ends at time now, if it is one that is read. Call before anything else is
 * done, so that the counts hold as little of the agent's work as possible, and delimit_end after it. Returns
 * the time when the counters were read.
 */
static inline uint64_t reading_stop(struct thread *thread, const struct thread_rules *rules,
		uint64_t now)
{
	return thread->burst.open && thread->burst.reading ? reading_end(thread, rules, now) : now;
}

/* Opens the counters of a thread that was given a used place. Returns false if the burst is not to be read. */
bool reading_open_late(struct thread *thread, const struct thread_rules *rules);

/*
 * Returns the cost of a read as a share of its cost together with opening the counters first; 1: they are open.
 */
double reading_opening_share(const struct thread *thread, const struct thread_rules *rules);

#endif
