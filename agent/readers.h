/*
 * Reading what another thread swaps, under RCU (liburcu's bulletproof flavour, which needs nothing
 * of the threads that it finds itself in). liburcu 0.13 orders by bare fences, which
 * ThreadSanitizer does not see: it is told here of the two orders that RCU gives, from publishing
 * to reading, and from the end of reading to the end of the grace period.
 */
#ifndef PHASEMUX_AGENT_READERS_H
#define PHASEMUX_AGENT_READERS_H

#include <urcu-bp.h>

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#else
#define __tsan_acquire(address) ((void)(address))
#define __tsan_release(address) ((void)(address))
#endif

/* What is swapped goes by an address that readers and writer have in common; never dereferenced. */

static inline void readers_enter(const void *swapped)
{
	rcu_read_lock();
	__tsan_acquire((char *)swapped);
}

static inline void readers_leave(const void *swapped)
{
	__tsan_release((char *)swapped + 1);
	rcu_read_unlock();
}

/* The writer, before rcu_assign_pointer: what the new pointers point to is complete. */
static inline void readers_announce(const void *swapped)
{
	__tsan_release((char *)swapped);
}

/* The writer, after rcu_assign_pointer: until nobody reads what the old pointers point to. */
static inline void readers_wait(const void *swapped)
{
	synchronize_rcu();
	__tsan_acquire((char *)swapped + 1);
}

#endif
