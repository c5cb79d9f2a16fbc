/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/reading.h"

#include <errno.h>
#include <sched.h>

#include "agent/bursts/turn.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"

/* A read that took more than this many times its cost at the start was delayed by something else. */
#define READ_TICKS_MAX 16
/* A switch takes 3 to 10 us. One that took longer than this was delayed by something else. */
#define SWITCH_NS_MAX 1e6

/* How often a thread lets others run, before it gives up to read a burst. */
#define TURN_TRIES 8

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

static int read_group(struct group *group, uint64_t *values)
{
	return group->count ? group_read(group, values) : 0;
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

/*
 * Takes the turn to read. The helper may have it, and may have lost the processor to this thread while it switched
 * groups. Returns false if it needs longer.
 */
static inline bool take_turn(struct thread *thread)
{
	for (int tries = 0; __builtin_expect(!thread_take_turn(thread), 0); tries++) {
		if (tries == TURN_TRIES)
			return false;
		sched_yield();
	}
	return true;
}

bool reading_begin(struct thread *thread, const struct thread_rules *rules, uint64_t *now)
{
	uint64_t begin = *now;
	int kept = errno;
	bool good;

	if (rules->switching && !take_turn(thread))
		return false;
	thread->reading.switched = false;
	good = !quantum_is_over(thread, rules, begin);
	if (!good) {
		good = turn_next(thread, rules, begin, 0);
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
	thread->reading.ended = !rules->switching || take_turn(thread);
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
