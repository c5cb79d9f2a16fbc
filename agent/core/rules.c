/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/rules.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "agent/bursts/polling.h"
#include "agent/bursts/skipping.h"
#include "agent/core/core.h"
#include "sampling/clock.h"

#define QUICK_NS   10000 /* a burst and its call that together take less are quick */
#define QUANTUM_NS 10e6  /* shortest time that a group is counted, unless the user sets it */

/* Parts of the budget that reads, switches of groups, trainings and samples may use. */
#define BUDGET_READS    0.6
#define BUDGET_SWITCHES 0.3
#define BUDGET_ROUNDS   0.1
#define BUDGET_SAMPLES  0.1 /* if ranks wait for each other; otherwise samples have no limit */
/* Part for all of them together with start, end and calls. The rest is for overhead that is not measured. */
#define BUDGET_ALL 0.9

/*
 * Part of the budget that each rank may use if ranks wait for each other. The budget is a part of the run's
 * time: the overhead of one rank delays the others, which have their own overhead at another time. The time to
 * load the caches again is not measured. Programs were slower by up to three times the overhead of a rank
 * (docs/measurements/budget.md).
 */
#define BUDGET_OF_RANKS (1.0 / 3)

static bool is_waited_for(void)
{
	return core.adapter && core.world.size > 1;
}

/* Returns the part of each second that this process may use. */
static double own_budget(void)
{
	return core.settings.budget * (is_waited_for() ? BUDGET_OF_RANKS : 1);
}

/* Returns the ticks that the two hooks of a call take if nothing is read, which is mostly for time stamps. */
static double measure_call(void)
{
	uint64_t begin = clock_now();

	for (int i = 0; i < 64; i++)
		clock_now();
	return (double)(clock_now() - begin) / 64 * 4;
}

static uint64_t ran_ticks(void)
{
	struct timespec ran;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
	return clock_ticks((double)ran.tv_sec * 1e9 + (double)ran.tv_nsec);
}

static uint64_t measure_ran(void)
{
	uint64_t begin = clock_now();

	for (int i = 0; i < 8; i++)
		ran_ticks();
	return (clock_now() - begin) / 8;
}

/* Returns a bit for each event of a group that counts processor time. */
static uint32_t times_of(const struct plan_group *group)
{
	uint32_t times = 0;

	for (unsigned i = 0; i < group->count; i++)
		times |= (uint32_t)event_is_time(&core.counting.event[group->event[i]]) << i;
	return times;
}

/* Returns the number of samples per second of the thread's time. budget: share of the program's time. */
static double choose_sample_hz(double budget)
{
	const struct settings *settings = &core.settings;
	char model[SETTINGS_NAME_MAX];

	/* a second in the emulator is some ten ms elsewhere, and bursts that would be short there stay whole */
	if (processor_is_emulated(&core.counting.processor, model, sizeof(model)))
		return settings_sample_hz(settings, 0, 1);
	return settings_sample_hz(settings, is_waited_for() ? budget * BUDGET_SAMPLES : INFINITY,
			core.counting.probe.sample_ns);
}

void rules_make(void)
{
	const struct settings *settings = &core.settings;
	const struct probe *probe = &core.counting.probe;
	const struct plan *plan = &core.counting.plan;
	struct thread_rules *rules = &core.rules;
	double budget = own_budget(), quantum = settings->quantum_ns;

	rules->scheme = (struct scheme){ .kind = settings->scheme,
		.groups = plan->groups,
		.fixed = settings->group,
		.seed = 1 };
	rules->groups = plan->groups;
	for (unsigned g = 0; g < plan->groups; g++) {
		rules->counts[g] = plan->group[g].count;
		rules->times[g] = times_of(&plan->group[g]);
	}
	/* a probability above 1 counts as 1 */
	rules->pay = isfinite(budget) && probe->read_ns > 0 ?
			budget * BUDGET_READS / (2 * (double)clock_ticks(probe->read_ns)) :
			1e18;
	if (!quantum && isfinite(budget))
		quantum = probe->switch_ns / (budget * BUDGET_SWITCHES);
	if (!settings->quantum_ns)
		quantum = fmax(quantum, QUANTUM_NS);
	rules->call_ticks = measure_call();
	rules->skip_ticks = skipping_cost();
	rules->read_ticks = probe->read_ns / clock_here.ns_per_tick;
	rules->allowed = isfinite(budget) ? budget * BUDGET_ALL : 0;
	rules->quantum_ticks = clock_ticks(quantum);
	rules->quantum_bursts = settings->quantum_bursts;
	rules->quick_ticks = clock_ticks(QUICK_NS);
	rules->service_ticks = clock_ticks(CORE_SERVICE_NS);
	rules->poll_ticks = clock_ticks(POLLING_NS);
	rules->poll_look_ticks = clock_ticks(POLLING_LOOK_NS);
	rules->ran_ticks = ran_ticks;
	rules->ran_cost = measure_ran();
	if (settings->sample_hz) {
		/* equal on all ranks, because it decides which bursts are cut */
		double hz = choose_sample_hz(budget);

		rules->sample_ns = (uint64_t)(1e9 / hz);
		rules->sample_ticks = clock_ticks((double)rules->sample_ns);
		rules->sample_cost = clock_ticks(probe->sample_ns);
		/* otherwise no burst is cut, because slices shorter than burst_min would be in no phase */
		if (settings->burst_min_ns <= (double)rules->sample_ns)
			rules->long_ticks = SLICES_MIN * rules->sample_ticks;
	}
}

double rules_budget_of_rounds(void)
{
	return own_budget() * BUDGET_ROUNDS;
}
