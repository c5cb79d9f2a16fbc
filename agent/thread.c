/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/memory.h"
#include "agent/polling.h"
#include "agent/readers.h"
#include "agent/rest_estimate.h"
#include "agent/skipping.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"
#include "sampling/descriptor.h"

/* Slices for which a group stays enabled within a burst, because each switch costs two slices. */
#define SWITCH_SLICES 16

/*
 * Share of the read budget that is still spent once the whole budget is, so that short runs measure something.
 */
#define READS_LEFT 0.3

/*
 * Share of the budget that learning call paths may take, and the least ns for it (main thread, other threads).
 */
#define LEARN_SHARE   0.25
#define LEARN_NS_MAIN 5e6
#define LEARN_NS      5e5

/*
 * Among the program's work a read takes several times as long as at the start, because what it needs has left
 * the caches. At the start many are made in a row. The cost is known after READS_KNOWN reads. A read that took
 * more than READ_TICKS_MOST times the cost at the start was delayed by something else.
 */
#define READS_KNOWN     32
#define READ_TICKS_MOST 16
#define HOOK_TICKS_MOST 64  /* this limit for a hook */
#define SWITCH_NS_MOST  1e6 /* limit for a switch, which takes 3 to 10 us */

/*
 * The first burst of a call site is read, because nothing predicts its length. With very many sites this may
 * cost too much. Once the thread has spent EXPLORE_NS more than its budget, the first burst is read only with
 * the probability EXPLORE_LEFT.
 */
#define EXPLORE_NS   5e6
#define EXPLORE_LEFT 0.05

#define THREADS_FEW 64 /* threads that may open counters while any descriptor is free */

#define RECENT_NS  1e9  /* age from which computing hardly decides what is short now */
#define KEPT_SHARE 0.99 /* share of the computing time in bursts that are not short */

size_t thread_bytes(void)
{
	return sizeof(struct thread) + THREAD_RING_BURSTS * sizeof(struct burst);
}

size_t thread_resident(const struct thread *thread)
{
	return memory_resident(thread, thread_bytes()) +
			memory_resident(thread->gathered, thread->gathered_bytes) +
			path_mapped(&thread->sites.paths) + thread->kernel_bytes;
}

static void close_groups(struct thread *thread)
{
	for (unsigned g = 0; g < PLAN_GROUPS_MAX; g++)
		if (thread->groups[g].count)
			group_close(&thread->groups[g]);
}

/* Returns whether the group's descriptor leaves enough of them to the program, if there are many threads. */
static bool is_modest(const struct thread *thread, const struct group *group)
{
	return thread->place < THREADS_FEW || group->fd[0] < 0 || descriptor_is_spare(group->fd[0]);
}

/* Opens the groups that the scheme may ever choose for this thread. Returns 0 or -errno. */
static int open_groups(struct thread *thread, const struct thread_rules *rules, pid_t tid,
		enum read_method method, bool save_pages)
{
	const struct scheme *scheme = &rules->scheme;
	const struct plan *plan = thread->plan;
	bool fixed = scheme->kind == SCHEME_NONE || scheme->kind == SCHEME_SPACE;
	unsigned only = fixed ? scheme_group(scheme, thread->place, 0) : 0;

	for (unsigned g = 0; g < plan->groups && plan->events; g++) {
		const struct event *of_group[GROUP_EVENTS_MAX];
		unsigned bad;
		int error;

		if (fixed && g != only)
			continue;
		for (unsigned i = 0; i < plan->group[g].count; i++)
			of_group[i] = &thread->events[plan->group[g].event[i]];
		error = group_open_on(&thread->groups[g], tid, thread->pmu, of_group,
				plan->group[g].count, method, save_pages, &bad);
		if (!error && !is_modest(thread, &thread->groups[g]))
			error = -EMFILE;
		if (error) {
			close_groups(thread);
			return error;
		}
	}
	return 0;
}

/* Opens the samples by which long bursts are cut. If the kernel refuses them, long bursts stay whole. */
static void open_samples(struct thread *thread, const struct thread_rules *rules)
{
	struct overflow *overflow = &thread->slicer.overflow;
	bool first = (pid_t)syscall(SYS_gettid) == getpid();
	int error = 0;

	/* the ring has room for what comes until it is read the next time */
	for (unsigned g = 0; g < PLAN_GROUPS_MAX && rules->sample_ns && !error; g++) {
		struct group *group = &thread->groups[g];

		if (group->count)
			error = overflow->page ? overflow_add(overflow, group, rules->sample_ns) :
						 overflow_open(overflow, group, rules->sample_ns,
								 first ? THREAD_SAMPLES_FIRST :
									 THREAD_SAMPLES);
		thread->slicer.id[g] = group->sampled ? group->id[group->count] : 0;
	}
	thread->slicer.sample_ns = rules->sample_ns;
	thread->slicer.sample_cost = rules->sample_cost;
	if (error)
		overflow_close(overflow);
}

static void open_counters(struct thread *thread, const struct thread_rules *rules, pid_t tid,
		enum read_method method, bool save_pages)
{
	uint64_t begin = clock_now(), ticks;

	thread->open_error = open_groups(thread, rules, tid, method, save_pages);
	if (!thread->open_error)
		open_samples(thread, rules);
	ticks = clock_now() - begin;
	if (!thread->open_ticks || ticks < thread->open_ticks)
		thread->open_ticks = ticks;
}

struct thread *thread_new(const struct thread_rules *rules, pid_t tid, const struct pmu *pmu,
		const struct event *events, const struct plan *plan, uint64_t place,
		enum read_method method, bool save_pages)
{
	struct thread *thread = memory_map(thread_bytes());

	if (!thread)
		return NULL;
	thread->place = place;
	thread->tid = tid ? tid : (pid_t)syscall(SYS_gettid);
	thread->pay = rules->pay;
	thread->explore = 1;
	thread->entered = clock_now();
	thread->random = 0x9e3779b97f4a7c15u * (place + 1) ^ thread->entered;
	ring_init(&thread->ring, thread->memory, THREAD_RING_BURSTS, sizeof(struct burst));
	thread->pmu = pmu;
	thread->events = events;
	thread->plan = plan;
	thread->life.born = thread->entered;
	site_add(&thread->life.threads, 1);
	open_counters(thread, rules, tid, method, save_pages);
	for (unsigned g = 0; g < PLAN_GROUPS_MAX; g++)
		thread->event_bytes += group_bytes(&thread->groups[g]);
	thread->kernel_bytes = thread->event_bytes + thread->slicer.overflow.bytes;
	thread->group = scheme_group(&rules->scheme, place, 0);
	thread->group_weight = 1;
	thread->untimed = THREAD_CALLS_TIMED / 2;
	thread->returns = atomic_load_explicit(&rules->returns, memory_order_relaxed);
	thread->burst_min = atomic_load_explicit(&rules->burst_min, memory_order_relaxed);
	thread->recent.at = thread->entered;
	return thread;
}

/*
 * Returns false if another thread has the turn. Pairs with the release in end_turn, which publishes that turn.
 */
static inline bool take_turn(struct thread *thread)
{
	return !atomic_flag_test_and_set_explicit(&thread->turn, memory_order_acquire);
}

static inline void end_turn(struct thread *thread)
{
	atomic_flag_clear_explicit(&thread->turn, memory_order_release);
}

void thread_hold(struct thread *thread)
{
	while (atomic_flag_test_and_set_explicit(&thread->draining, memory_order_acquire))
		sched_yield();
}

void thread_let_go(struct thread *thread)
{
	atomic_flag_clear_explicit(&thread->draining, memory_order_release);
}

void thread_close(struct thread *thread)
{
	while (!take_turn(thread))
		sched_yield();
	/* pairs with the release in ledger_drain: the reader of the ring is done with it */
	thread_hold(thread);
	overflow_close(&thread->slicer.overflow);
	thread_let_go(thread);
	close_groups(thread);
	thread->counting = false;
	end_turn(thread);
	thread->open_error = -ESRCH;
}

bool thread_is_open(const struct thread *thread)
{
	for (unsigned g = 0; g < PLAN_GROUPS_MAX; g++)
		if (thread->groups[g].count)
			return true;
	return false;
}

void thread_renew(struct thread *thread, const struct thread_rules *rules)
{
	atomic_store_explicit(&thread->tid, (pid_t)syscall(SYS_gettid), memory_order_relaxed);
	thread->entered = thread->life.born = clock_now();
	site_add(&thread->life.threads, 1);
	thread->open = thread->reading = thread->ended = thread->switched = false;
	thread->unobserved = 0;
	thread->before = 0;
	thread->open_error = 0;
	thread->unopened = thread->plan->events > 0;
	thread->returns = atomic_load_explicit(&rules->returns, memory_order_relaxed);
	/* rests are estimated from the bursts of the thread that rests */
	thread->resting.since = thread->resting.wanted = 0;
	thread->resting.noted = false;
	thread->polling = (struct polling){ .asks = false };
	thread->window = (struct passed_window){ .multiple = 0 };
	memset(thread->places, 0, sizeof(thread->places));
	memset(thread->pair, 0, sizeof(thread->pair));
}

void thread_end_life(struct thread *thread, uint64_t elapsed)
{
	uint64_t lived = clock_now() - thread->life.born;

	site_add(&thread->life.ended_ticks,
			lived > thread->unobserved ? lived - thread->unobserved : 0);
	atomic_store_explicit(&thread->life.since, elapsed, memory_order_relaxed);
	site_add(&thread->life.ended, 1);
}

static uint64_t life_of(const _Atomic uint64_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

static bool is_there(const struct thread_life *life)
{
	return life_of(&life->threads) > life_of(&life->ended);
}

uint64_t thread_lived(const struct thread *thread, uint64_t elapsed)
{
	const struct thread_life *life = &thread->life;
	uint64_t since = life_of(&life->since), lived = life_of(&life->ended_ticks);

	return is_there(life) && elapsed > since ? lived + elapsed - since : lived;
}

/* Limits ticks to `most`, because what took longer was delayed by something else. */
static uint64_t at_most(uint64_t ticks, double most)
{
	return (double)ticks < most ? ticks : (uint64_t)most;
}

/*
 * Returns the cost of a read as a share of its cost together with opening the counters first; 1: they are open.
 */
static double opening_share(const struct thread *thread, const struct thread_rules *rules)
{
	double read = 2 * rules->read_ticks;

	return thread->unopened ? read / (read + (double)thread->open_ticks) : 1;
}

/* Opens the counters of a thread that was given a used place. Returns false if the burst is not to be read. */
static __attribute__((noinline)) bool open_late(struct thread *thread,
		const struct thread_rules *rules)
{
	int kept = errno, state;
	uint64_t begin = clock_now();
	double share = opening_share(thread, rules);

	/* pairs with the release in ledger_drain: a drain that looks at samples sees these from the start */
	if (atomic_flag_test_and_set_explicit(&thread->draining, memory_order_acquire))
		return false;
	state = cancellation_hold();
	open_counters(thread, rules, 0, READ_SYSCALL, true);
	cancellation_release(state);
	atomic_flag_clear_explicit(&thread->draining, memory_order_release);
	thread->unopened = false;
	if (rules->allowed > 0)
		thread->pay /= share;
	site_add(&thread->counts.service_ticks,
			at_most(clock_now() - begin, (double)clock_ticks(SWITCH_NS_MOST)));
	errno = kept;
	return !thread->open_error;
}

void thread_free(struct thread *thread)
{
	memory_unmap(thread->gathered, thread->gathered_bytes);
	path_fini(&thread->sites.paths);
	memory_unmap(thread, thread_bytes());
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

	readers_enter(rules);
	/* pairs with rcu_assign_pointer in ledger_publish, which publishes the learnt shares */
	scheme.adaptive = rcu_dereference(rules->adaptive);
	group = scheme_group(&scheme, place, quantum);
	*group_weight = scheme_weight(&scheme, group);
	readers_leave(rules);
	return group;
}

/*
 * Starts the next quantum, and enables its group. Returns false if it cannot. Caller has the turn, if there are
 * any.
 */
static __attribute__((noinline)) bool next_quantum(struct thread *thread,
		const struct thread_rules *rules, uint64_t now)
{
	unsigned group = choose_group(rules, thread->place, thread->quantum + 1,
			&thread->group_weight);

	/* if the group never changes, all bursts of a thread are one sampling unit */
	thread->quantum += rules->scheme.kind != SCHEME_SPACE;
	thread->quantum_end = now + rules->quantum_ticks;
	thread->quantum_left = rules->quantum_bursts;
	if (thread->counting && group == thread->group)
		return true;
	if (thread->counting)
		disable(&thread->groups[thread->group]);
	thread->group = group;
	thread->counting = enable(&thread->groups[group]) == 0;
	site_add(&thread->counts.switches, 1);
	return thread->counting;
}

static inline bool quantum_is_over(const struct thread *thread, const struct thread_rules *rules,
		uint64_t now)
{
	if (!thread->counting)
		return true;
	return rules->quantum_bursts ? !thread->quantum_left : now >= thread->quantum_end;
}

static int read_begin(struct thread *thread)
{
	struct group *group = &thread->groups[thread->group];

	if (thread->by_other && group->count)
		return group_read_other(group, thread->values);
	return read_group(group, thread->values);
}

/* Adds a read that took `ticks`. */
static void account_read(struct thread *thread, const struct thread_rules *rules, uint64_t ticks)
{
	site_add(&thread->counts.reads, 1);
	site_add(&thread->counts.read_ticks, at_most(ticks, READ_TICKS_MOST * rules->read_ticks));
}

/*
 * Reads the counters for a burst that begins at *now, and moves *now past that. Returns false if they are not
 * read.
 */
static __attribute__((noinline)) bool begin_reading(struct thread *thread,
		const struct thread_rules *rules, uint64_t *now)
{
	uint64_t begin = *now;
	int kept = errno;
	bool good;

	if (rules->switching && !take_turn(thread))
		return false;
	thread->switched = false;
	good = !quantum_is_over(thread, rules, begin);
	if (!good) {
		good = next_quantum(thread, rules, begin);
		begin = clock_now();
		site_add(&thread->counts.switch_ticks,
				at_most(begin - *now, (double)clock_ticks(SWITCH_NS_MOST)));
	}
	good = good && read_begin(thread) == 0;
	/* a group that the kernel has thrown out can come back only with the next quantum */
	if (!good)
		thread->counting = false;
	if (rules->switching)
		end_turn(thread);
	errno = kept;
	*now = clock_now();
	if (good)
		account_read(thread, rules, *now - begin);
	return good;
}

uint64_t thread_read_end(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	int kept = errno;
	uint64_t end;

	atomic_store_explicit(&thread->under_way.since, 0, memory_order_release);
	thread->ended = !rules->switching || take_turn(thread);
	if (!thread->ended)
		return now;
	thread->ended = read_group(&thread->groups[thread->group], thread->end_values) == 0;
	if (!thread->ended)
		thread->counting = false;
	thread->quantum_left -= thread->quantum_left > 0;
	if (rules->switching)
		end_turn(thread);
	errno = kept;
	end = clock_now();
	account_read(thread, rules, end - now);
	return end;
}

/* Returns the processor time of the thread that has the place, in ns. */
static uint64_t ran_ns_of(const struct thread *thread)
{
	return clock_thread_ns(atomic_load_explicit(&thread->tid, memory_order_relaxed));
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

void thread_switch(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	/* pairs with the release in publish: the thread is in this burst, and leaves groups alone */
	uint64_t since = atomic_load_explicit(&thread->under_way.since, memory_order_acquire);
	uint64_t stay = SWITCH_SLICES * rules->sample_ticks;

	if (!since || !has_run(thread, since, stay) || !take_turn(thread))
		return;
	/* the burst may have ended meanwhile, and the next one may have changed groups in its turn */
	if (atomic_load_explicit(&thread->under_way.since, memory_order_acquire) == since &&
			thread->counting && thread->slicer.overflow.page &&
			now >= thread->quantum_end) {
		unsigned before = thread->group;

		next_quantum(thread, rules, now);
		thread->quantum_end = now + rules->quantum_ticks;
		thread->switched |= thread->group != before;
		thread->watched.ran_ns = ran_ns_of(thread);
		atomic_store_explicit(&thread->under_way.group, thread->group,
				memory_order_release);
		atomic_store_explicit(&thread->under_way.quantum, thread->quantum,
				memory_order_release);
	}
	end_turn(thread);
}

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
		thread->service_at = 0;
	else if (used >= THREAD_RING_BURSTS / 4 && thread->service_at > now)
		thread->service_at = now;
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
	bool mixed = !thread->ended || thread->switched;
	struct burst *burst;

	/* the samples of a long burst are valid even if its counters were not read at its end */
	if (!thread->ended && !is_long(rules, ticks))
		return false;
	burst = ring_reserve(&thread->ring);
	if (!burst ||
			(!mixed &&
					!group_delta(thread->values, thread->end_values,
							rules->counts[thread->group],
							burst->values)))
		return false;
	bound_times(burst->values, mixed ? 0 : rules->times[thread->group], ticks);
	burst->begin = thread->begin;
	burst->ticks = ticks;
	burst->quantum = mixed ? 0 : thread->quantum;
	burst->execution = thread->sites.site[thread->from].bursts;
	burst->span = span;
	burst->length = (uint16_t)length;
	burst->regular = span_regular(&thread->sites.span[span].order);
	burst->group = mixed ? 0 : (uint16_t)thread->group;
	burst->mixed = mixed;
	burst->unread = false;
	/* the group of a mixed burst, and its weight, may be changing now */
	burst->group_weight = mixed ? 1 : (float)thread->group_weight;
	burst->weight = thread->weight;
	burst->slice = false;
	burst->samples = 0;
	burst->is_long = is_long(rules, ticks);
	if (rules->sample_ns)
		memcpy(burst->first, thread->values, sizeof(burst->first));
	burst->from = (uint16_t)thread->from;
	ring_commit(&thread->ring);
	drain_soon(thread, now);
	return true;
}

/* Returns whether what ends after `ticks` was polling and no burst. Then nothing else is to be done. */
static inline bool ends_poll(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		uint64_t ticks)
{
	struct passed_pair *pair = &thread->pair[thread->window.pairs];
	bool gap = thread->polling.asked && thread->polling.asks &&
			polling_is(thread, rules, now, ticks);

	if (!gap && !thread->polling.asked && !thread->polling.row)
		return false;
	polling_learn(thread, rules, now, gap);
	if (!gap)
		return false;
	thread_add_polls(thread, 1, ticks);
	*pair = (struct passed_pair){ .burst = ticks, .polls = true };
	return true;
}

/*
 * Returns whether the next burst may be read: while the program polls, only if an answer may have ended that.
 */
static inline bool may_read(const struct thread *thread)
{
	const struct polling *polling = &thread->polling;

	return !polling->asked || !thread->sites.site[thread->from].polls ||
			(polling->answered && polling_heeds(polling));
}

/* Puts a burst that was not read into the ring, because it may have been sampled: the ledger looks. */
static __attribute__((noinline)) void push_unread(struct thread *thread, uint64_t now,
		uint64_t ticks, uint32_t span, unsigned length)
{
	struct burst *burst = ring_reserve(&thread->ring);

	if (!burst)
		return;
	burst->begin = thread->begin;
	burst->ticks = ticks;
	burst->span = span;
	burst->length = (uint16_t)length;
	burst->from = (uint16_t)thread->from;
	burst->unread = true;
	burst->is_long = false;
	ring_commit(&thread->ring);
	drain_soon(thread, now);
}

__attribute__((hot)) void thread_end_burst(struct thread *thread, const struct thread_rules *rules,
		enum runtime_call call, uint64_t now)
{
	struct thread_counts *counts = &thread->counts;
	struct passed_pair *pair = &thread->pair[thread->window.pairs];
	bool went_by = thread->window.going, is_short, placed, read = false;
	unsigned length = 0;
	uint32_t span = 0;
	uint64_t ticks;

	if (went_by)
		passed_settle(thread, rules, now);
	site_add(&counts->calls, 1);
	if (__builtin_expect(!thread->open, 0))
		return;
	thread->open = false;
	ticks = now - thread->begin;
	if ((int64_t)ticks < 0)
		ticks = 0;
	if (ends_poll(thread, rules, now, ticks)) {
		thread->window.timed = thread_passes(thread, rules) && !went_by;
		return;
	}
	thread_add_bursts(thread, 1, is_long(rules, ticks) ? thread_cut_length(rules) : ticks,
			ticks);
	site_learn(&thread->sites.site[thread->from], ticks);
	is_short = ticks < thread->burst_min;
	placed = !is_short || ticks >= rules->placed_ticks;
	if (placed) {
		span = span_find(&thread->sites, thread->from,
				site_find(&thread->sites, thread->at, call));
		length = span_length(&thread->sites, &thread->sites.span[span], ticks);
	}
	if (!is_short) {
		span_follow(&thread->sites, thread->before, span);
		thread->before = span;
	}
	if (thread->reading && !is_short) {
		read = push_burst(thread, rules, now, ticks, span, length);
		if (!read)
			site_add(&counts->lost, 1);
	}
	if (!placed)
		thread_add_short(thread, 1, ticks);
	else if (!read)
		thread_add_unread(thread, span, length, 1, ticks);
	if (placed)
		rest_estimate_add(thread, span, length, 1, ticks);
	if (placed && !read && slicer_is_sampled(&thread->slicer))
		push_unread(thread, now, ticks, span, length);
	/* after skipped calls the length of the burst is not known but assumed */
	thread->window.timed = thread->window.multiple && !thread->reading && !went_by;
	if (thread->window.timed) {
		pair->burst = ticks;
		pair->span = span;
		pair->length = (uint16_t)length;
		pair->placed = placed;
		pair->polls = false;
	}
}

/*
 * Publishes the burst. A thread that sees a field of it also sees the burst before it over: all are releases.
 */
static inline void publish(struct thread *thread, uint64_t now)
{
	struct open_burst *open = &thread->under_way;

	atomic_store_explicit(&open->quantum, thread->quantum, memory_order_release);
	atomic_store_explicit(&open->group, thread->group, memory_order_release);
	atomic_store_explicit(&open->from, thread->from, memory_order_release);
	atomic_store_explicit(&open->weight, thread->weight, memory_order_release);
	atomic_store_explicit(&open->since, now, memory_order_release);
}

__attribute__((hot)) void thread_begin_burst(struct thread *thread,
		const struct thread_rules *rules, enum runtime_call call, uint64_t now)
{
	double chance;

	thread->open = !atomic_load_explicit(&rules->finished, memory_order_relaxed);
	thread->from = site_find(&thread->sites, thread->at, call);
	chance = site_chance(&thread->sites.site[thread->from], thread->pay, thread->explore);
	thread->reading = thread->open && !thread->open_error && may_read(thread) &&
			thread_random(thread) < chance;
	if (thread->reading && __builtin_expect(thread->unopened, 0)) {
		thread->reading = open_late(thread, rules);
		now = clock_now();
	}
	if (thread->reading) {
		thread->weight = chance >= 1 ? 1 : 1 / chance;
		if (!begin_reading(thread, rules, &now)) {
			thread->reading = false;
			site_add(&thread->counts.lost, 1);
		}
	}
	thread->begin = now;
	if (thread->reading)
		publish(thread, now);
}

void thread_begin_other(struct thread *thread, const struct thread_rules *rules,
		enum runtime_call call, uint64_t now)
{
	thread->by_other = true;
	thread_begin_burst(thread, rules, call, now);
	thread->by_other = false;
}

void thread_return(struct thread *thread, uint32_t returns, uint64_t now)
{
	thread->returns = returns;
	thread->unobserved += now - (thread->open ? thread->begin : thread->entered);
	thread->open = thread->reading = false;
	thread->entered = now;
	passed_stop(thread->passed);
	thread->window.going = thread->window.pairs = thread->window.resume = 0;
	thread->window.timed = false;
	thread->polling = (struct polling){ .asks = thread->polling.asks };
	atomic_store_explicit(&thread->under_way.since, 0, memory_order_release);
}

void thread_account_hook(struct thread *thread, const struct thread_rules *rules, uint64_t ticks)
{
	site_add(&thread->counts.hook_ticks,
			THREAD_CALLS_TIMED * at_most(ticks, HOOK_TICKS_MOST * rules->call_ticks));
}

static double count_of(const _Atomic uint64_t *count)
{
	return (double)atomic_load_explicit(count, memory_order_relaxed);
}

/* Returns the ticks of what is rare: services, and learning new call paths. */
static double service_ticks(const struct thread *thread)
{
	return count_of(&thread->counts.service_ticks) + count_of(&thread->sites.paths.learn_ticks);
}

void thread_account(const struct thread *thread, struct account *account)
{
	const struct thread_counts *counts = &thread->counts;
	const struct slicer *slicer = &thread->slicer;
	const struct thread_life *life = &thread->life;

	*account = (struct account){
		.calls = count_of(&counts->calls),
		.passed = count_of(&counts->passed),
		.polls = count_of(&counts->polls),
		.poll_ticks = count_of(&counts->poll_ticks),
		.bursts = count_of(&counts->bursts) + count_of(&slicer->extra) +
				count_of(&slicer->ahead_bursts),
		.ticks = count_of(&counts->ticks) + count_of(&slicer->ahead_ticks),
		.short_bursts = count_of(&counts->short_bursts),
		.short_ticks = count_of(&counts->short_ticks),
		.unclassified_bursts = (double)thread->given_up,
		.unclassified_ticks = (double)thread->given_up_ticks,
		.lost = count_of(&counts->lost),
		.hook_ticks = count_of(&counts->hook_ticks),
		.reads = count_of(&counts->reads),
		.read_ticks = count_of(&counts->read_ticks),
		.switches = count_of(&counts->switches),
		.switch_ticks = count_of(&counts->switch_ticks),
		.service_ticks = service_ticks(thread),
		.sample_ticks = count_of(&slicer->sample_ticks),
		.slices = count_of(&slicer->all_slices),
		.samples = count_of(&slicer->samples),
		.lost_samples = count_of(&slicer->lost),
		.rested_calls = count_of(&counts->rested_calls),
		.rested_ticks = count_of(&counts->rested_ticks),
		.threads = count_of(&life->threads),
		.ended = count_of(&life->ended),
		.ended_ticks = count_of(&life->ended_ticks),
		.late_ticks = is_there(life) ? count_of(&life->since) : 0,
		.paths = count_of(&thread->sites.paths.kept),
		.merged_calls = count_of(&thread->sites.paths.merged),
	};
}

double thread_own_ticks(const struct thread *thread, const struct thread_rules *rules)
{
	struct account account;
	struct work work;

	thread_account(thread, &account);
	work = account_work(&account, rules->passed_ticks);
	return work_sum(&work);
}

/* Returns the factor on the number of reads, at most 1, because reads cost more than they did at the start. */
static double read_costs(const struct thread *thread, const struct thread_rules *rules)
{
	double reads = count_of(&thread->counts.reads);
	double ticks = count_of(&thread->counts.read_ticks);

	if (reads < READS_KNOWN || ticks <= reads * rules->read_ticks)
		return 1;
	return reads * rules->read_ticks / ticks;
}

/* Returns the ticks of all bursts whose length is in an octave. */
static uint64_t octave_ticks(const struct thread *thread, unsigned octave)
{
	uint64_t ticks = 0;

	for (unsigned bin = 4 * octave; bin < 4 * octave + 4; bin++)
		ticks += atomic_load_explicit(&thread->counts.histogram[bin], memory_order_relaxed);
	return ticks;
}

/* Returns the length in ticks such that longer bursts hold KEPT_SHARE of the recent time, to the octave. */
static uint64_t recently_kept(const struct thread_recent *recent)
{
	double all = 0, dropped = 0;
	unsigned octave = 0;

	for (unsigned i = 0; i < RECENT_OCTAVES; i++)
		all += recent->ticks[i];
	while (all > 0 && octave < RECENT_OCTAVES - 1 &&
			dropped + recent->ticks[octave] <= (1 - KEPT_SHARE) * all)
		dropped += recent->ticks[octave++];
	return histogram_floor(4 * octave);
}

void thread_learn_short(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	struct thread_recent *recent = &thread->recent;
	uint64_t common = atomic_load_explicit(&rules->burst_min, memory_order_relaxed), own;
	double kept = exp(-clock_ns(now - recent->at) / RECENT_NS);

	if (rules->burst_min_given) {
		thread->burst_min = common;
		return;
	}
	for (unsigned octave = 0; octave < RECENT_OCTAVES; octave++) {
		uint64_t until = octave_ticks(thread, octave);

		recent->ticks[octave] *= kept;
		recent->ticks[octave] += (double)(until - recent->until[octave]);
		recent->until[octave] = until;
	}
	recent->at = now;
	/* half of it, as in the rounds of all ranks: the bursts of a phase may become shorter and stay in it */
	own = recently_kept(recent) / 2;
	thread->burst_min = own && own < common ? own : common;
}

/* Returns the ticks that learning call paths may take until the program has run for `elapsed` ticks. */
static uint64_t learn_most(const struct thread *thread, const struct thread_rules *rules,
		uint64_t elapsed)
{
	double at_once = (double)clock_ticks(thread->main ? LEARN_NS_MAIN : LEARN_NS);
	double in_time = LEARN_SHARE * rules->allowed * (double)elapsed;

	return (uint64_t)(at_once > in_time ? at_once : in_time);
}

void thread_keep_budget(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed)
{
	double spent = rules->fixed_ticks + thread_own_ticks(thread, rules);
	uint64_t calls = atomic_load_explicit(&thread->counts.calls, memory_order_relaxed);

	if (rules->allowed > 0) {
		thread->sites.paths.learn_most = learn_most(thread, rules, elapsed);
		thread->pay = rules->pay * read_costs(thread, rules) *
				opening_share(thread, rules) *
				(spent > rules->allowed * (double)elapsed ? READS_LEFT : 1);
		thread->explore = spent - rules->fixed_ticks > rules->allowed * (double)elapsed +
								(double)clock_ticks(EXPLORE_NS) ?
				EXPLORE_LEFT :
				1;
	}
	if (elapsed - thread->budget_at < rules->service_ticks / 2)
		return;
	thread->window.multiple = passed_multiple(thread, rules, calls - thread->budget_calls,
			elapsed - thread->budget_at, elapsed);
	thread->budget_calls = calls;
	thread->budget_at = elapsed;
}
