/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bursts that no prototype claims yet, until there is a new generation: a bounded pool of the
 * process, in which each thread has a queue. A thread may take a place while it has fewer than are
 * free: alone it gets half of them, and one of many is left room by the others.
 *
 * A queue belongs to whoever drains its thread; places are taken and given back under the caller's
 * lock.
 */
#ifndef PHASEMUX_AGENT_PENDING_H
#define PHASEMUX_AGENT_PENDING_H

#include <stddef.h>
#include <stdint.h>

#include "agent/burst.h"

#define PENDING_MAX 1024

struct pending {
	struct pending *next;
	struct burst burst;
};

/* Oldest first; zeros are an empty one. */
struct pending_queue {
	struct pending *first, *last;
	unsigned count;
};

struct pending_pool {
	struct pending *given_back;
	unsigned used; /* places that were ever taken: memory is touched as far as that */
	unsigned taken;
	struct pending place[PENDING_MAX];
};

/* A place for one more burst of the queue, or NULL. Under the lock. */
struct pending *pending_take(struct pending_pool *pool, const struct pending_queue *queue);

/* Under the lock. */
void pending_give_back(struct pending_pool *pool, struct pending *place);

void pending_append(struct pending_queue *queue, struct pending *place);

/* The oldest, out of the queue; NULL: it is empty. */
struct pending *pending_shift(struct pending_queue *queue);

#endif
