/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread/thread.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/host/memory.h"
#include "multiplex/mix.h"
#include "sampling/clock.h"
#include "sampling/descriptor.h"

#define THREADS_FEW 64 /* threads that may open counters while any descriptor is free */

/* A hook that took more than this many times its cost at the start was delayed by something else. */
#define HOOK_TICKS_MAX 64

size_t thread_bytes(void)
{
	return sizeof(struct thread) + THREAD_RING_BURSTS * sizeof(struct burst);
}

size_t thread_resident(const struct thread *thread)
{
	return memory_resident(thread, thread_bytes()) +
			memory_resident(thread->drain.gathered, thread->drain.gathered_bytes) +
			memory_resident(thread->structure.loops, thread->structure.bytes) +
			memory_resident(thread->structure.recurrences,
					thread->structure.recurrences_bytes) +
			memory_resident(thread->structure.arguments,
					thread->structure.arguments_bytes) +
			memory_resident(thread->structure.leads, thread->structure.leads_bytes) +
			memory_resident(thread->structure.region, thread->structure.region_bytes) +
			memory_resident(thread->structure.iterations,
					thread->structure.iterations_bytes) +
			path_mapped(&thread->sites.paths) + thread->counters.kernel_bytes;
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
	return thread->identity.place < THREADS_FEW || group->fd[0] < 0 ||
			descriptor_is_spare(group->fd[0]);
}

/* Opens the groups that the scheme may ever choose for this thread. Returns 0 or -errno. */
static int open_groups(struct thread *thread, const struct thread_rules *rules, pid_t tid,
		enum read_method method, bool save_pages)
{
	const struct scheme *scheme = &rules->scheme;
	const struct plan *plan = thread->counters.plan;
	bool fixed = scheme->kind == SCHEME_NONE || scheme->kind == SCHEME_SPACE;
	unsigned only = fixed ? scheme_group(scheme, thread->identity.place, 0) : 0;

	for (unsigned g = 0; g < plan->groups && plan->events; g++) {
		const struct event *events[GROUP_EVENTS_MAX];
		const struct group_spec spec = {
			.pmu = thread->counters.pmu,
			.events = events,
			.count = plan->group[g].count,
			.thread = tid,
			.method = method,
			.save_pages = save_pages,
		};
		unsigned bad;
		int error;

		if (fixed && g != only)
			continue;
		for (unsigned i = 0; i < spec.count; i++)
			events[i] = &thread->counters.events[plan->group[g].event[i]];
		error = group_open_on(&thread->groups[g], &spec, &bad);
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
	struct overflow *overflow = &thread->drain.slicer.overflow;
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
		thread->drain.slicer.id[g] = group->sampled ? group->id[group->count] : 0;
	}
	thread->drain.slicer.sample_ns = rules->sample_ns;
	thread->drain.slicer.sample_cost = rules->sample_cost;
	if (error)
		overflow_close(overflow);
}

void thread_open_counters(struct thread *thread, const struct thread_rules *rules, pid_t tid,
		enum read_method method, bool save_pages)
{
	uint64_t begin = clock_now(), ticks;

	thread->opening.error = open_groups(thread, rules, tid, method, save_pages);
	if (!thread->opening.error)
		open_samples(thread, rules);
	ticks = clock_now() - begin;
	if (!thread->opening.ticks || ticks < thread->opening.ticks)
		thread->opening.ticks = ticks;
}

struct thread *thread_new(const struct thread_rules *rules, const struct thread_spec *spec)
{
	struct thread *thread = memory_map(thread_bytes());

	if (!thread)
		return NULL;
	thread->identity.place = spec->place;
	thread->identity.tid = spec->tid ? spec->tid : (pid_t)syscall(SYS_gettid);
	thread->budget.pay = rules->pay;
	thread->budget.explore = 1;
	thread->call.entered = clock_now();
	thread->random = MIX_STEP * (spec->place + 1) ^ thread->call.entered;
	ring_init(&thread->ring, thread->memory, THREAD_RING_BURSTS, sizeof(struct burst));
	thread->counters.pmu = spec->pmu;
	thread->counters.events = spec->events;
	thread->counters.plan = spec->plan;
	thread->life.born = thread->call.entered;
	site_add(&thread->life.threads, 1);
	thread_open_counters(thread, rules, spec->tid, spec->method, spec->save_pages);
	for (unsigned g = 0; g < PLAN_GROUPS_MAX; g++)
		thread->counters.event_bytes += group_bytes(&thread->groups[g]);
	thread->counters.kernel_bytes =
			thread->counters.event_bytes + thread->drain.slicer.overflow.bytes;
	thread->turn.group = scheme_group(&rules->scheme, spec->place, 0);
	thread->turn.group_weight = 1;
	thread->watched.trust_new = 1;
	thread->call.untimed = THREAD_CALLS_TIMED / 2;
	thread->call.returns = atomic_load_explicit(&rules->returns, memory_order_relaxed);
	thread->burst_min = atomic_load_explicit(&rules->burst_min, memory_order_relaxed);
	thread->recent.updated = thread->call.entered;
	return thread;
}

void thread_hold(struct thread *thread)
{
	while (atomic_flag_test_and_set_explicit(&thread->drain.busy, memory_order_acquire))
		sched_yield();
}

void thread_let_go(struct thread *thread)
{
	atomic_flag_clear_explicit(&thread->drain.busy, memory_order_release);
}

void thread_close(struct thread *thread)
{
	while (!thread_take_turn(thread))
		sched_yield();
	/* pairs with the release in ledger_drain: the reader of the ring is done with it */
	thread_hold(thread);
	overflow_close(&thread->drain.slicer.overflow);
	thread_let_go(thread);
	close_groups(thread);
	thread->turn.counting = false;
	thread_end_turn(thread);
	thread->opening.error = -ESRCH;
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
	atomic_store_explicit(&thread->identity.tid, (pid_t)syscall(SYS_gettid),
			memory_order_relaxed);
	thread->call.entered = thread->life.born = clock_now();
	site_add(&thread->life.threads, 1);
	thread->burst.open = thread->burst.reading = false;
	thread->reading.ended = thread->reading.switched = false;
	thread->unobserved = 0;
	thread->burst.before = 0;
	thread->opening.error = 0;
	thread->opening.due = thread->counters.plan->events > 0;
	thread->call.returns = atomic_load_explicit(&rules->returns, memory_order_relaxed);
	/* rests are estimated from the bursts of the thread that rests */
	thread->resting.since = thread->resting.wanted = 0;
	thread->resting.noted = false;
	thread->polling = (struct polling){ .asks = false };
	thread->window = (struct skip_window){ .multiple = 0 };
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

void thread_free(struct thread *thread)
{
	memory_unmap(thread->structure.loops, thread->structure.bytes);
	memory_unmap(thread->structure.recurrences, thread->structure.recurrences_bytes);
	memory_unmap(thread->structure.arguments, thread->structure.arguments_bytes);
	memory_unmap(thread->structure.leads, thread->structure.leads_bytes);
	memory_unmap(thread->structure.region, thread->structure.region_bytes);
	memory_unmap(thread->structure.iterations, thread->structure.iterations_bytes);
	memory_unmap(thread->drain.gathered, thread->drain.gathered_bytes);
	path_fini(&thread->sites.paths);
	memory_unmap(thread, thread_bytes());
}

void thread_account_hook(struct thread *thread, const struct thread_rules *rules, uint64_t ticks)
{
	site_add(&thread->counts.hook_ticks,
			THREAD_CALLS_TIMED *
					thread_limit(ticks, HOOK_TICKS_MAX * rules->call_ticks));
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
	const struct slicer *slicer = &thread->drain.slicer;
	const struct thread_life *life = &thread->life;

	*account = (struct account){
		.calls = count_of(&counts->calls),
		.skipped = count_of(&counts->skipped),
		.polls = count_of(&counts->polls),
		.poll_ticks = count_of(&counts->poll_ticks),
		.bursts = count_of(&counts->bursts) + count_of(&slicer->extra) +
				count_of(&slicer->ahead_bursts),
		.ticks = count_of(&counts->ticks) + count_of(&slicer->ahead_ticks),
		.short_bursts = count_of(&counts->short_bursts),
		.short_ticks = count_of(&counts->short_ticks),
		.unclassified_bursts = (double)thread->drain.given_up,
		.unclassified_ticks = (double)thread->drain.given_up_ticks,
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
		.spared_bursts = count_of(&counts->spared_bursts),
		.repeated_ticks = count_of(&counts->repeated_ticks),
		.repeated_calls = count_of(&counts->repeated_calls),
		.left_loops = count_of(&counts->left_loops),
		.checks = count_of(&counts->checks),
		.differing_checks = count_of(&counts->differing_checks),
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
	work = account_work(&account, rules->skip_ticks);
	return work_sum(&work) + count_of(&thread->watched.look_ticks);
}
