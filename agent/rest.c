/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/rest.h"

#include "agent/thread.h"
#include "sampling/clock.h"

/* Ticks are paid for reads, calls and their paths in advance: a run has a start. */
#define CREDIT_NS 10e6
/* Part of the budget that what the thread does beside calls may take from them. */
#define OTHERS_MOST 0.3
/* Part of what is allowed that a thread which rests spends, so that it pays its debt. */
#define PAYING   0.8
#define MOST_NS  2e9 /* of a rest */
#define AWAKE_NS 5e6 /* from a rest to the next one, at least */

/* What a thread that looks at no call does not spend; of reads there are fewer without a rest. */
static double spent_by_calls(const struct work *work, double learnt)
{
	return work->calls + learnt;
}

void rest_plan(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed,
		uint64_t now)
{
	struct rest_plan *plan = &thread->resting;
	double learnt = (double)atomic_load_explicit(&thread->sites.paths.learn_ticks,
			memory_order_relaxed);
	double before = plan->spent, awake = (double)(now - plan->woken);
	double allowed = rules->allowed * (double)elapsed, rate, others, all;
	/* more calls go by from now on than did until now: this may be enough */
	bool hopes = thread->window.multiple > 2 * plan->passed;
	struct account account;
	struct work work;

	thread_account(thread, &account);
	/* a call that goes by takes as long as one in a rest: no rest saves that */
	work = account_work(&account, 0);
	all = work_sum(&work);
	plan->spent = spent_by_calls(&work, learnt);
	plan->woken = now;
	plan->passed = thread->window.multiple;
	if (!(rules->allowed > 0) || !thread->slot || hopes)
		return;
	others = all - plan->spent;
	if (others > OTHERS_MOST * allowed)
		others = OTHERS_MOST * allowed;
	rate = plan->spent - before;
	if (plan->spent + others <= allowed + (double)clock_ticks(CREDIT_NS) ||
			rate <= rules->allowed * awake)
		return;
	rate /= PAYING * rules->allowed;
	plan->wanted = rate > awake ? (uint64_t)(rate - awake) : 0;
	if (plan->wanted > clock_ticks(MOST_NS))
		plan->wanted = clock_ticks(MOST_NS);
}

void rest_begin(struct thread *thread, uint64_t now)
{
	struct rest_plan *plan = &thread->resting;

	plan->since = now;
	passed_stop(thread->passed);
	thread->window.going = thread->window.pairs = 0;
	thread->window.timed = false;
	thread->open = thread->reading = false;
	thread->slot->rest.until = rest_clock() + (uint64_t)clock_ns(plan->wanted);
	plan->wanted = 0;
}

void rest_end(struct thread *thread, uint64_t now)
{
	struct rest_plan *plan = &thread->resting;
	struct rest *rest = &thread->slot->rest;

	site_add(&thread->counts.rested_ticks, now - plan->since);
	site_add(&thread->counts.rested_calls, rest->calls);
	site_add(&thread->counts.calls, rest->calls);
	rest->until = 0;
	rest->calls = 0;
	plan->since = 0;
	plan->woken = now;
	/* a thread that needed a rest is likely to need the next one soon */
	thread->service_at = now + clock_ticks(AWAKE_NS);
}
