/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/budget.h"

#include <math.h>

#include "agent/bursts/reading.h"
#include "agent/bursts/skipping.h"
#include "agent/bursts/structure.h"
#include "agent/region/region.h"
#include "sampling/clock.h"

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
 * the caches. At the start many are made in a row. The cost is known after this many reads.
 */
#define READS_KNOWN 32

/*
 * The first burst of a call site is read, because nothing predicts its length. With very many sites this may
 * cost too much. Once the thread has spent EXPLORE_NS more than its budget, the first burst is read only with
 * the probability EXPLORE_LEFT.
 */
#define EXPLORE_NS   5e6
#define EXPLORE_LEFT 0.05

#define RECENT_NS  1e9  /* age from which computing hardly decides what is short now */
#define KEPT_SHARE 0.99 /* share of the computing time in bursts that are not short */

/* Returns the factor on the number of reads, at most 1, because reads cost more than they did at the start. */
static double read_costs(const struct thread *thread, const struct thread_rules *rules)
{
	double reads = (double)atomic_load_explicit(&thread->counts.reads, memory_order_relaxed);
	double ticks = (double)atomic_load_explicit(&thread->counts.read_ticks,
			memory_order_relaxed);

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

void budget_learn_short(struct thread *thread, const struct thread_rules *rules, uint64_t now)
{
	struct thread_recent *recent = &thread->recent;
	uint64_t common = atomic_load_explicit(&rules->burst_min, memory_order_relaxed), own;
	double kept = exp(-clock_ns(now - recent->updated) / RECENT_NS);

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
	recent->updated = now;
	/* half of it, as in the rounds of all ranks: the bursts of a phase may become shorter and stay in it */
	own = recently_kept(recent) / 2;
	thread->burst_min = own && own < common ? own : common;
}

/* Returns the ticks that learning call paths may take until the program has run for `elapsed` ticks. */
static uint64_t learn_most(const struct thread *thread, const struct thread_rules *rules,
		uint64_t elapsed)
{
	double at_once = (double)clock_ticks(thread->identity.main ? LEARN_NS_MAIN : LEARN_NS);
	double in_time = LEARN_SHARE * rules->allowed * (double)elapsed;

	return (uint64_t)(at_once > in_time ? at_once : in_time);
}

void budget_keep(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed)
{
	double spent = rules->fixed_ticks + thread_own_ticks(thread, rules);
	uint64_t calls = atomic_load_explicit(&thread->counts.calls, memory_order_relaxed);

	if (rules->allowed > 0) {
		thread->sites.paths.learn_most = learn_most(thread, rules, elapsed);
		thread->budget.pay = rules->pay * read_costs(thread, rules) *
				reading_opening_share(thread, rules) *
				(spent > rules->allowed * (double)elapsed ? READS_LEFT : 1);
		thread->budget.explore =
				spent - rules->fixed_ticks > rules->allowed * (double)elapsed +
								(double)clock_ticks(EXPLORE_NS) ?
				EXPLORE_LEFT :
				1;
	}
	if (elapsed - thread->budget.checked < rules->service_ticks / 2)
		return;
	thread->window.multiple = region_holds(thread) ?
			0 :
			skipping_multiple(thread, rules, calls - thread->budget.calls,
					elapsed - thread->budget.checked, elapsed);
	structure_pay(thread, rules, elapsed);
	thread->budget.calls = calls;
	thread->budget.checked = elapsed;
}
