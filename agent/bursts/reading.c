/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/reading.h"

#include <errno.h>

#include "agent/host/rcu.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"

/* Slices for which a group stays enabled within a burst, because each switch costs two slices. */
#define SWITCH_SLICES 16

/* A read that took more than this many times its cost at the start was delayed by something else. */
#define READ_TICKS_MAX 16
/* A switch takes 3 to 10 us. One that took longer than this was delayed by something else. */
#define SWITCH_NS_MAX 1e6

double reading_opening_share(const struct thread *thread, const struct thread_rules *rules)
{
	double read = 2 * rules->read_ticks;

	return thread->opening.due ? read / (read + (double)thread->opening.ticks) : 1;
}

bool reading_open_late(struct thread *thread, const struct thread_rules *rules)
{
	int kept = errno, state;
	uint64_t begin = clock_now();
	double share = reading_opening_share(thread, rules);

	/* pairs with the release in ledger_drain: a drain that looks at samples sees these from the start */
	if (atomic_flag_test_and_set_explicit(&thread->drain.busy, memory_order_acquire))
		return false;
	state = cancellation_hold();
	thread_open_counters(thread, rules, 0, READ_SYSCALL, true);
	cancellation_release(state);
	atomic_flag_clear_explicit(&thread->drain.busy, memory_order_release);
	thread->opening.due = false;
	if (rules->allowed > 0)
		thread->budget.pay /= share;
	site_add(&thread->counts.service_ticks,
			thread_limit(clock_now() - begin, (double)clock_ticks(SWITCH_NS_MAX)));
	errno = kept;
	return !thread->opening.error;
}

/* Enables the group. If nothing can be counted, the only group has no event, and only time is taken. */
static int enable(struct group *group)
{
	return group->count ? group_enable(group) : 0;
}

static int disable(struct group *group)
{
	return group->count ? group_disable(group) : 0;
}

static int read_group(struct group *group, uint64_t *values)
{
	return group->count ? group_read(group, values) : 0;
}

static unsigned choose_group(const struct thread_rules *rules, uint64_t place, uint64_t quantum,
		double *group_weight)
{
	struct scheme scheme = rules->scheme;
	unsigned group;

	rcu_enter(rules);
	/* pairs with rcu_assign_pointer in ledger_publish, which publishes the learnt shares */
	scheme.adaptive = rcu_dereference(rules->adaptive);
	group = scheme_group(&scheme, place, quantum);
	*group_weight = scheme_weight(&scheme, group);
	rcu_leave(rules);
	return group;
}

/*
 * Starts the next quantum, and enables its group. Returns false if it cannot. Caller has the turn, if there are
 * any.
 */
static __attribute__((noinline)) bool next_quantum(struct thread *thread,
		const struct thread_rules *rules, uint64_t now)
{
	unsigned group = choose_group(rules, thread->identity.place, thread->turn.quantum + 1,
			&thread->turn.group_weight);

	/* if the group never changes, all bursts of a thread are one sampling unit */
	thread->turn.quantum += rules->scheme.kind != SCHEME_SPACE;
	thread->turn.quantum_end = now + rules->quantum_ticks;
	thread->turn.quantum_left = rules->quantum_bursts;
	if (thread->turn.counting && group == thread->turn.group)
		return true;
	if (thread->turn.counting)
		disable(&thread->groups[thread->turn.group]);
	thread->turn.group = group;
	thread->turn.counting = enable(&thread->groups[group]) == 0;
	site_add(&thread->counts.switches, 1);
	return thread->turn.counting;
}

static inline bool quantum_is_over(const struct thread *thread, const struct thread_rules *rules,
		uint64_t now)
{
	if (!thread->turn.counting)
		return true;
	return rules->quantum_bursts ? !thread->turn.quantum_left : now >= thread->turn.quantum_end;
}

static int read_begin(struct thread *thread)
{
	struct group *group = &thread->groups[thread->turn.group];

	if (thread->reading.by_other && group->count)
		return group_read_other(group, thread->reading.values);
	return read_group(group, thread->reading.values);
}

/* Adds a read that took `ticks`. */
static void account_read(struct thread *thread, const struct thread_rules *rules, uint64_t ticks)
{
	site_add(&thread->counts.reads, 1);
	site_add(&thread->counts.read_ticks,
			thread_limit(ticks, READ_TICKS_MAX * rules->read_ticks));
}

bool reading_begin(struct thread *thread, const struct thread_rules *rules, uint64_t *now)
{
	uint64_t begin = *now;
	int kept = errno;
	bool good;

	if (rules->switching && !thread_take_turn(thread))
		return false;
	thread->reading.switched = false;
	good = !quantum_is_over(thread, rules, begin);
	if (!good) {
		good = next_quantum(thread, rules, begin);
		begin = clock_now();
		site_add(&thread->counts.switch_ticks,
				thread_limit(begin - *now, (double)clock_ticks(SWITCH_NS_MAX)));
	}
	good = good && read_begin(thread) == 0;
	/* a group that the kernel has thrown out can come back only with the next quantum */
	if (!good)
		thread->turn.counting = false;
	if (rules->switching)
		thread_end_turn(thread);
	errno = kept;
	*now = clock_now();
	if (good)
		account_read(thread, rules, *now - begin);
	return good;
}

uint64_t reading_end(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	int kept = errno;
	uint64_t end;

	atomic_store_explicit(&thread->under_way.since, 0, memory_order_release);
	thread->reading.ended = !rules->switching || thread_take_turn(thread);
	if (!thread->reading.ended)
		return now;
	thread->reading.ended = read_group(&thread->groups[thread->turn.group],
						thread->reading.end_values) == 0;
	if (!thread->reading.ended)
		thread->turn.counting = false;
	thread->turn.quantum_left -= thread->turn.quantum_left > 0;
	if (rules->switching)
		thread_end_turn(thread);
	errno = kept;
	end = clock_now();
	account_read(thread, rules, end - now);
	return end;
}

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

void reading_switch(struct thread *thread, const struct thread_rules *rules, uint64_t now)
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

		next_quantum(thread, rules, now);
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
