/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/delimit.h"

#include <errno.h>
#include <string.h>

#include "agent/bursts/polling.h"
#include "agent/bursts/reading.h"
#include "agent/bursts/rest_estimate.h"
#include "agent/bursts/skipping.h"
#include "agent/bursts/structure.h"
#include "agent/bursts/turn.h"
#include "agent/iterations/iterations.h"
#include "sampling/clock.h"

static inline bool is_long(const struct thread_rules *rules, uint64_t ticks)
{
	return rules->long_ticks && ticks >= rules->long_ticks;
}

/*
 * Makes a service due that drains the ring. If the ring is a quarter full, it is done in the next call that can
 * wait; if it is half full, in any next call.
 */
static void drain_soon(struct thread *thread, uint64_t now)
{
	uint64_t used = ring_used(&thread->ring);

	if (used >= THREAD_RING_BURSTS / 2)
		thread->call.service_due = 0;
	else if (used >= THREAD_RING_BURSTS / 4 && thread->call.service_due > now)
		thread->call.service_due = now;
}

/*
 * Limits processor times to the length of the burst, because a thread cannot have run for longer. What the
 * kernel counts beyond that is the time of the two reads around the burst. times: a bit for each value that is
 * a time in ns.
 */
static void bound_times(uint64_t *values, uint32_t times, uint64_t ticks)
{
	uint64_t most = (uint64_t)clock_ns(ticks);

	for (; times; times &= times - 1) {
		uint64_t *value = &values[__builtin_ctz(times)];

		*value = *value < most ? *value : most;
	}
}

/*
 * Puts the counts of the burst that ends into the ring. length: number of its length in the thread's table.
 * Returns false if the counts are lost.
 */
static __attribute__((noinline)) bool push_burst(struct thread *thread,
		const struct thread_rules *rules, uint64_t now, uint64_t ticks, uint32_t span,
		unsigned length)
{
	bool mixed = !thread->reading.ended || thread->reading.switched;
	bool cut = is_long(rules, ticks) || (thread->reading.ended && thread->reading.switched);
	struct burst *burst;

	/* the samples of a long burst are valid even if its counters were not read at its end */
	if (!thread->reading.ended && !cut)
		return false;
	burst = ring_reserve(&thread->ring);
	if (!burst ||
			(!mixed &&
					!group_delta(thread->reading.values,
							thread->reading.end_values,
							rules->counts[thread->turn.group],
							burst->values)))
		return false;
	bound_times(burst->values, mixed ? 0 : rules->times[thread->turn.group], ticks);
	burst->begin = thread->call.burst_begin;
	burst->ticks = ticks;
	burst->quantum = mixed ? 0 : thread->turn.quantum;
	burst->execution = thread->sites.site[thread->call.burst_site].bursts;
	burst->span = span;
	burst->length = (uint16_t)length;
	burst->regular = span_regular(&thread->sites.span[span].order);
	burst->group = mixed ? 0 : (uint16_t)thread->turn.group;
	burst->mixed = mixed;
	burst->unread = false;
	/* the group of a mixed burst, and its weight, may be changing now */
	burst->group_weight = mixed ? 1 : (float)thread->turn.group_weight;
	burst->weight = thread->reading.weight;
	burst->slice = false;
	burst->samples = 0;
	burst->is_long = cut;
	if (rules->sample_ns)
		memcpy(burst->first, thread->reading.values, sizeof(burst->first));
	burst->from = (uint16_t)thread->call.burst_site;
	ring_commit(&thread->ring);
	drain_soon(thread, now);
	return true;
}

/* Returns whether what ends after `ticks` was polling and no burst. Then nothing else is to be done. */
static inline bool ends_poll(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		uint64_t ticks)
{
	struct skip_pair *pair = &thread->pair[thread->window.pairs];
	bool gap = thread->polling.asked && thread->polling.asks &&
			polling_is(thread, rules, now, ticks);

	if (!gap && !thread->polling.asked && !thread->polling.row)
		return false;
	polling_learn(thread, rules, now, gap);
	if (!gap)
		return false;
	thread_add_polls(thread, 1, ticks);
	timeline_add(&thread->timeline, TIMELINE_CALLS, now - ticks, now, ticks);
	*pair = (struct skip_pair){ .burst = ticks, .polls = true };
	return true;
}

/*
 * Returns whether the next burst may be read: while the program polls, only if an answer may have ended that.
 */
static inline bool may_read(const struct thread *thread)
{
	const struct polling *polling = &thread->polling;

	return !polling->asked || !thread->sites.site[thread->call.burst_site].polls ||
			(polling->answered && polling_heeds(polling));
}

/* Puts a burst that was not read into the ring, because it may have been sampled: the ledger looks. */
static __attribute__((noinline)) void push_unread(struct thread *thread, uint64_t now,
		uint64_t ticks, uint32_t span, unsigned length)
{
	struct burst *burst = ring_reserve(&thread->ring);

	if (!burst)
		return;
	burst->begin = thread->call.burst_begin;
	burst->ticks = ticks;
	burst->span = span;
	burst->length = (uint16_t)length;
	burst->from = (uint16_t)thread->call.burst_site;
	burst->unread = true;
	burst->is_long = false;
	ring_commit(&thread->ring);
	drain_soon(thread, now);
}

/*
 * Publishes that the thread is in no burst that is read, and all that it has written until now: pairs with the acquire in
 * thread_under_way. The thread may wait in its call when another one ends the run.
 */
static inline void publish_none(struct thread *thread)
{
	atomic_store_explicit(&thread->under_way.since, 0, memory_order_release);
}

static inline void count_short(struct thread *thread, uint64_t now, uint64_t ticks)
{
	thread_add_short(thread, 1, ticks);
	timeline_add(&thread->timeline, TIMELINE_NO_PHASE, now - ticks, now, ticks);
}

static inline void count_unread(struct thread *thread, uint64_t now, uint64_t ticks, uint32_t span,
		unsigned length)
{
	thread_add_unread(thread, span, length, 1, ticks);
	thread_time_unread(thread, length, now - ticks, now, ticks);
	if (slicer_is_sampled(&thread->drain.slicer))
		push_unread(thread, now, ticks, span, length);
}

__attribute__((hot)) void delimit_end(struct thread *thread, const struct thread_rules *rules,
		enum runtime_call call, uint64_t now)
{
	struct thread_counts *counts = &thread->counts;
	struct skip_pair *pair = &thread->pair[thread->window.pairs];
	bool went_by = thread->window.going, is_short, placed, read = false;
	unsigned length = 0;
	uint32_t span = 0;
	uint64_t ticks;

	if (went_by)
		skipping_settle(thread, rules, now);
	site_add(&counts->calls, 1);
	if (__builtin_expect(!thread->burst.open, 0))
		return;
	thread->burst.open = false;
	ticks = now - thread->call.burst_begin;
	if ((int64_t)ticks < 0)
		ticks = 0;
	if (ends_poll(thread, rules, now, ticks)) {
		thread->window.timed = skipping_windows(thread, rules) && !went_by;
		return;
	}
	thread_add_bursts(thread, 1, is_long(rules, ticks) ? thread_cut_length(rules) : ticks,
			ticks);
	structure_burst(thread, ticks);
	site_learn(&thread->sites.site[thread->call.burst_site], ticks);
	is_short = ticks < thread->burst_min;
	placed = !is_short || ticks >= rules->placed_ticks;
	if (placed) {
		span = span_find(&thread->sites, thread->call.burst_site,
				site_find(&thread->sites, thread->call.path, call));
		length = span_length(&thread->sites, &thread->sites.span[span], ticks);
		iterations_burst(thread, length, ticks);
	}
	if (!is_short) {
		span_follow(&thread->sites, thread->burst.before, span);
		thread->burst.before = span;
	}
	if (thread->burst.reading && !is_short) {
		read = push_burst(thread, rules, now, ticks, span, length);
		if (!read)
			site_add(&counts->lost, 1);
	}
	if (!placed)
		count_short(thread, now, ticks);
	else if (!read)
		count_unread(thread, now, ticks, span, length);
	if (placed)
		rest_estimate_add(thread, span, length, 1, ticks);
	/* after skipped calls the length of the burst is not known but assumed */
	thread->window.timed = thread->window.multiple && !thread->burst.reading && !went_by;
	if (thread->window.timed) {
		pair->burst = ticks;
		pair->span = span;
		pair->length = (uint16_t)length;
		pair->placed = placed;
		pair->polls = false;
	}
	publish_none(thread);
}

/*
 * Publishes the burst. A thread that sees a field of it also sees the burst before it over: all are releases.
 */
static inline void publish_burst(struct thread *thread, uint64_t now)
{
	struct open_burst *open = &thread->under_way;

	atomic_store_explicit(&open->quantum, thread->turn.quantum, memory_order_release);
	atomic_store_explicit(&open->group, thread->turn.group, memory_order_release);
	atomic_store_explicit(&open->from, thread->call.burst_site, memory_order_release);
	atomic_store_explicit(&open->weight, thread->reading.weight, memory_order_release);
	atomic_store_explicit(&open->since, now, memory_order_release);
}

/* Leaves a burst, which would have been read, to other ranks. */
static __attribute__((noinline)) void spare_burst(struct thread *thread,
		const struct thread_rules *rules)
{
	int kept = errno;

	site_add(&thread->counts.spared_bursts, thread->burst.reading);
	thread->burst.reading = false;
	turn_stop(thread, rules);
	errno = kept;
}

__attribute__((hot)) void delimit_begin(struct thread *thread, const struct thread_rules *rules,
		enum runtime_call call, uint64_t now)
{
	double chance;

	thread->burst.open = !atomic_load_explicit(&rules->finished, memory_order_relaxed);
	thread->call.burst_site = site_find(&thread->sites, thread->call.path, call);
	chance = site_chance(&thread->sites.site[thread->call.burst_site], thread->budget.pay,
			thread->budget.explore);
	thread->burst.reading = thread->burst.open && !thread->opening.error && may_read(thread) &&
			thread_random(thread) < chance;
	if (__builtin_expect(thread->structure.spared, 0))
		spare_burst(thread, rules);
	if (thread->burst.reading && __builtin_expect(thread->opening.due, 0)) {
		thread->burst.reading = reading_open_late(thread, rules);
		now = clock_now();
	}
	if (thread->burst.reading) {
		thread->reading.weight = chance >= 1 ? 1 : 1 / chance;
		if (!reading_begin(thread, rules, &now)) {
			thread->burst.reading = false;
			site_add(&thread->counts.lost, 1);
		}
	}
	thread->call.burst_begin = now;
	if (thread->burst.reading)
		publish_burst(thread, now);
	else
		publish_none(thread);
}

void delimit_begin_other(struct thread *thread, const struct thread_rules *rules,
		enum runtime_call call, uint64_t now)
{
	thread->reading.by_other = true;
	delimit_begin(thread, rules, call, now);
	thread->reading.by_other = false;
}

void delimit_return(struct thread *thread, uint32_t returns, uint64_t now)
{
	uint64_t since = thread->burst.open ? thread->call.burst_begin : thread->call.entered;

	thread->unobserved += now - since;
	timeline_add(&thread->timeline, TIMELINE_UNOBSERVED, since, now, now - since);
	thread->call.returns = returns;
	structure_lose(thread);
	thread->burst.open = thread->burst.reading = false;
	thread->call.entered = now;
	skip_stop(thread->skip);
	thread->window.going = thread->window.pairs = thread->window.resume = 0;
	thread->window.timed = false;
	thread->polling = (struct polling){ .asks = thread->polling.asks };
	atomic_store_explicit(&thread->under_way.since, 0, memory_order_release);
}
