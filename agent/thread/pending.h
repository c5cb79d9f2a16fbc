/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts that no prototype has claimed yet, which wait for a new generation. The process has one bounded pool,
 * in which each thread has a queue. A thread may take a place while it has fewer places than are free. A single
 * thread gets half of them, and many threads leave room for each other.
 *
 * A queue belongs to the thread that drains its thread. Places are taken and given back under the ledger lock.
 */
#ifndef PHASEMUX_AGENT_THREAD_PENDING_H
#define PHASEMUX_AGENT_THREAD_PENDING_H

#include <stddef.h>
#include <stdint.h>

#include "agent/thread/burst.h"

#define PENDING_MAX 1024

struct pending {
	struct pending *next;
	struct burst burst;
};

/* Bursts of a thread, the oldest one first. Zeros are an empty queue. */
struct pending_queue {
	struct pending *first, *last;
	unsigned count;
	uint64_t seen; /* bursts that the queue is a sample of; pending_restart() sets it to those in it */
};

struct pending_pool {
	struct pending *given_back;
	unsigned used; /* number of places that were ever taken: only their memory is touched */
	unsigned taken;
	struct pending place[PENDING_MAX];
};

/* Returns a place for one more burst of the queue, or NULL. Caller holds the ledger lock. */
struct pending *pending_take(struct pending_pool *pool, struct pending_queue *queue);

/* Gives a place back to the pool. Caller holds the ledger lock. */
void pending_give_back(struct pending_pool *pool, struct pending *place);

/* Adds a place at the end of the queue. */
void pending_append(struct pending_queue *queue, struct pending *place);

/*
 * Decides about a burst for which pending_take() has no room, so that the queue stays a sample in which each of
 * the bursts seen is equally likely (Vitter's algorithm R). Removes a place from the queue, which its burst
 * leaves for the new one, and returns it. Returns NULL if the new burst is the one to leave. random: 64 random bits.
 */
struct pending *pending_replace(struct pending_queue *queue, uint64_t random);

/* Begins a new sample with what is in the queue. Call when prototypes have claimed some of its bursts. */
void pending_restart(struct pending_queue *queue);

/* Removes the oldest place from the queue and returns it, or returns NULL if the queue is empty. */
struct pending *pending_shift(struct pending_queue *queue);

#endif
