/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading what another thread swaps, under RCU (liburcu's bulletproof flavour, which needs nothing
 * of the threads that it finds itself in). liburcu 0.13 orders by bare fences, which
 * ThreadSanitizer does not see: it is told here of the two orders that RCU gives, from publishing
 * to reading, and from the end of reading to the end of the grace period.
 */
#ifndef PHASEMUX_AGENT_READERS_H
#define PHASEMUX_AGENT_READERS_H

#include <urcu-bp.h>

#include "agent/annotate.h"

/* What is swapped goes by an address that readers and writer have in common; never dereferenced. */

static inline void readers_enter(const void *swapped)
{
	rcu_read_lock();
	annotate_acquire(swapped);
}

static inline void readers_leave(const void *swapped)
{
	annotate_release((const char *)swapped + 1);
	rcu_read_unlock();
}

/* The writer, before rcu_assign_pointer: what the new pointers point to is complete. */
static inline void readers_announce(const void *swapped)
{
	annotate_release(swapped);
}

/* The writer, after rcu_assign_pointer: until nobody reads what the old pointers point to. */
static inline void readers_wait(const void *swapped)
{
	synchronize_rcu();
	annotate_acquire((const char *)swapped + 1);
}

#endif
