/* SPDX-License-Identifier: BSD-3-Clause */
/* Begins and ends the bursts of a thread, at the boundaries of intercepted calls. */
#ifndef PHASEMUX_AGENT_BURSTS_DELIMIT_H
#define PHASEMUX_AGENT_BURSTS_DELIMIT_H

#include <stdint.h>

#include "agent/thread/thread.h"

/* Ends the burst under way at time now, when `call` begins at the path thread->call.path. */
void delimit_end(struct thread *thread, const struct thread_rules *rules, enum runtime_call call,
		uint64_t now);

/* Starts a burst at time now, when `call` at the path thread->call.path has returned. */
void delimit_begin(struct thread *thread, const struct thread_rules *rules, enum runtime_call call,
		uint64_t now);

/* Starts a burst of a thread that does not know yet that it is observed. Call on another thread. */
void delimit_begin_other(struct thread *thread, const struct thread_rules *rules,
		enum runtime_call call, uint64_t now);

/*
 * Drops the burst or the call that was under way when the agent was turned off, because its end is not known.
 * The time since it began is unobserved. Call in the first hook after the agent is on again, at time now.
 */
void delimit_return(struct thread *thread, uint32_t returns, uint64_t now);

/* Calls delimit_return in the first hook after the agent was off. Call before all else in a hook. */
static inline void delimit_look_return(struct thread *thread, const struct thread_rules *rules,
		uint64_t now)
{
	/* pairs with the release in core_resume, by way of the hooks' pointer */
	uint32_t returns = atomic_load_explicit(&rules->returns, memory_order_relaxed);

	if (__builtin_expect(thread->call.returns != returns, 0))
		delimit_return(thread, returns, now);
}

#endif
