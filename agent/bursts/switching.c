/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/switching.h"

#include "agent/bursts/turn.h"
#include "sampling/clock.h"

/* Slices for which a group stays enabled within a burst, because each switch costs two slices. */
#define SWITCH_SLICES 16

/* Returns the processor time of the thread that has the place, in ns. */
static uint64_t ran_ns_of(const struct thread *thread)
{
	return clock_thread_ns(atomic_load_explicit(&thread->identity.tid, memory_order_relaxed));
}

/*
 * Returns whether the thread has run for `ticks` in this burst with the present group. Only its processor time
 * counts, because a thread that waits for a processor is not sampled.
 */
static bool has_run(struct thread *thread, uint64_t since, uint64_t ticks)
{
	struct watched_burst *watched = &thread->watched;
	uint64_t ran_ns = ran_ns_of(thread);

	if (watched->since != since)
		*watched = (struct watched_burst){ .since = since, .ran_ns = ran_ns };
	return clock_ns(ticks) <= (double)(int64_t)(ran_ns - watched->ran_ns);
}

void switching_look(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	/* pairs with the release in publish: the thread is in this burst, and leaves groups alone */
	uint64_t since = atomic_load_explicit(&thread->under_way.since, memory_order_acquire);
	uint64_t stay = SWITCH_SLICES * rules->sample_ticks;

	if (!since || !has_run(thread, since, stay) || !thread_take_turn(thread))
		return;
	/* the burst may have ended meanwhile, and the next one may have changed groups in its turn */
	if (atomic_load_explicit(&thread->under_way.since, memory_order_acquire) == since &&
			thread->turn.counting && thread->drain.slicer.overflow.page &&
			now >= thread->turn.quantum_end) {
		unsigned before = thread->turn.group;

		turn_next(thread, rules, now);
		thread->turn.quantum_end = now + rules->quantum_ticks;
		thread->reading.switched |= thread->turn.group != before;
		thread->watched.ran_ns = ran_ns_of(thread);
		atomic_store_explicit(&thread->under_way.group, thread->turn.group,
				memory_order_release);
		atomic_store_explicit(&thread->under_way.quantum, thread->turn.quantum,
				memory_order_release);
	}
	thread_end_turn(thread);
}
