/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads under RCU what another thread swaps, with liburcu's bulletproof flavour, which does not require threads
 * to register. liburcu 0.13 orders by bare fences, which ThreadSanitizer does not see. These functions tell it
 * of the two orders that RCU guarantees: from publishing to reading, and from the end of reading to the end of
 * the grace period.
 */
#ifndef PHASEMUX_AGENT_HOST_RCU_H
#define PHASEMUX_AGENT_HOST_RCU_H

#include <urcu-bp.h>

#include "agent/host/tsan.h"

/* `swapped` is an address that readers and writer share to name what is swapped. It is never dereferenced. */

static inline void rcu_enter(const void *swapped)
{
	rcu_read_lock();
	tsan_acquire(swapped);
}

static inline void rcu_leave(const void *swapped)
{
	tsan_release((const char *)swapped + 1);
	rcu_read_unlock();
}

/* Announces that what the new pointers point to is complete. The writer calls it before rcu_assign_pointer. */
static inline void rcu_announce(const void *swapped)
{
	tsan_release(swapped);
}

/* Waits until no thread reads what the old pointers point to. The writer calls it after rcu_assign_pointer. */
static inline void rcu_wait(const void *swapped)
{
	synchronize_rcu();
	tsan_acquire((const char *)swapped + 1);
}

#endif
