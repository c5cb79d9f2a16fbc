/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/resting.h"

#include "agent/bursts/rest_estimate.h"
#include "agent/bursts/structure.h"
#include "sampling/clock.h"

/* Overhead by which a thread may exceed its budget without a rest, because a run has a start. */
#define CREDIT_NS 10e6
/* Part of the budget that overhead of other kinds than calls may take from calls. */
#define OTHERS_MAX 0.3
/* Part of the budget that a thread with rests spends, so that it pays its debt. */
#define PAYING_SHARE 0.8
#define REST_NS_MAX  2e9 /* longest rest */
#define AWAKE_NS     5e6 /* shortest time from a rest to the next one */
#define LOOK_NS      1e6 /* time from a rest to the check whether the next one is needed */

/* Returns the ticks that a rest saves: calls and paths. Not reads, which become fewer without a rest. */
static double spent_by_calls(const struct work *work, double learnt)
{
	return work->calls + learnt;
}

/*
 * Returns the length of a rest after `awake` ticks, in which calls cost `times` what is allowed for that time.
 */
static uint64_t rest_ticks(double times, double awake)
{
	double ticks = (times - 1) * awake, most = (double)clock_ticks(REST_NS_MAX);

	if (!(ticks > 0))
		return 0;
	return (uint64_t)(ticks < most ? ticks : most);
}

void resting_plan(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed,
		uint64_t now)
{
	struct rest_plan *plan = &thread->resting;
	double learnt = (double)atomic_load_explicit(&thread->sites.paths.learn_ticks,
			memory_order_relaxed);
	double before = plan->spent, awake = (double)(now - plan->woken);
	double allowed = rules->allowed * (double)elapsed, cost, others, all, ahead;
	double credit = (double)clock_ticks(CREDIT_NS);
	/* more calls are skipped from now on than until now, which may be enough */
	bool hopes = thread->window.multiple > 2 * plan->multiple;
	struct account account;
	struct work work;

	if (plan->wanted)
		return;
	thread_account(thread, &account);
	/* skipped calls count 0, because a call in a rest takes as long: no rest saves that */
	work = account_work(&account, 0);
	all = work_sum(&work);
	plan->spent = spent_by_calls(&work, learnt);
	plan->woken = now;
	plan->multiple = thread->window.multiple;
	if (!(rules->allowed > 0) || !thread->identity.slot || hopes)
		return;
	others = all - plan->spent;
	if (others > OTHERS_MAX * allowed)
		others = OTHERS_MAX * allowed;
	cost = plan->spent - before;
	ahead = plan->spent + others - allowed;
	/* a rest is likely, because the thread is spending its credit */
	if (ahead > 0 && !plan->noted) {
		plan->noted = true;
		rest_estimate_start(thread, now);
	}
	if (ahead <= credit || cost <= rules->allowed * awake)
		return;
	/* the time that was drawn as the last rest ended is over, or there was no rest yet */
	if ((int64_t)(plan->due - now) < 0)
		plan->due = now + (uint64_t)(thread_random(thread) * (double)clock_ticks(AWAKE_NS));
	plan->wanted = rest_ticks(cost / (PAYING_SHARE * rules->allowed * awake),
			awake + (double)(plan->due - now));
}

/* Returns how many ns the quick clock may be late, because it goes in steps and is set some time after each. */
static uint64_t near_ns(void)
{
	struct timespec step;

	if (clock_getres(CLOCK_MONOTONIC_COARSE, &step))
		return UINT32_MAX;
	return 5 * ((uint64_t)step.tv_sec * 1000000000u + (uint64_t)step.tv_nsec) / 2;
}

void resting_begin(struct thread *thread, uint64_t now)
{
	struct rest_plan *plan = &thread->resting;

	plan->since = now;
	rest_estimate_begin(thread, plan->due, now);
	skip_stop(thread->skip);
	thread->window.going = thread->window.pairs = 0;
	thread->window.timed = false;
	thread->burst.open = thread->burst.reading = false;
	plan->until = clock_monotonic() + (uint64_t)clock_ns(plan->wanted);
	thread->identity.slot->rest.near = near_ns();
	thread->identity.slot->rest.until = plan->until;
	plan->wanted = 0;
}

/* Returns the ticks between the planned end of the rest and now, when a call notices it. */
static uint64_t late_ticks(const struct rest_plan *plan)
{
	uint64_t now = clock_monotonic();

	return now > plan->until ? clock_ticks((double)(now - plan->until)) : 0;
}

/* Adds the calls of the rest to the structure. Their time is divided as that of all calls and bursts. */
static void add_structure(struct thread *thread, uint64_t calls, uint64_t ticks)
{
	const struct thread_counts *counts = &thread->counts;
	double inside = (double)atomic_load_explicit(&counts->mpi_ticks, memory_order_relaxed);
	double bursts = (double)atomic_load_explicit(&counts->ticks, memory_order_relaxed);
	uint64_t burst = inside + bursts > 0 ?
			(uint64_t)((double)ticks * bursts / (inside + bursts)) :
			0;

	structure_skip(thread, calls, burst, ticks - burst);
}

void resting_end(struct thread *thread, uint64_t now)
{
	struct rest_plan *plan = &thread->resting;
	struct rest *rest = &thread->identity.slot->rest;
	uint64_t end = now - late_ticks(plan);
	double awake = (double)clock_ticks(AWAKE_NS);

	/* the estimate ends at a random time, like it began, and not after what takes long */
	rest_estimate_end(thread, end, now);
	add_structure(thread, rest->calls, now - plan->since);
	site_add(&thread->counts.rested_ticks, now - plan->since);
	timeline_add(&thread->timeline, TIMELINE_RESTED, plan->since, now, now - plan->since);
	site_add(&thread->counts.rested_calls, rest->calls);
	site_add(&thread->counts.calls, rest->calls);
	rest->until = 0;
	rest->calls = rest->look_at = 0;
	rest->looked = 0;
	plan->since = 0;
	plan->woken = now;
	/*
	 * A thread that needed a rest is likely to need the next one soon. The time at which that starts is
	 * drawn here and not in resting_plan, which runs in certain calls of the program: rests would start
	 * after these more often than elsewhere.
	 */
	plan->due = end + (uint64_t)(awake * (1 + thread_random(thread)));
	thread->call.service_due = now + clock_ticks(LOOK_NS);
}
