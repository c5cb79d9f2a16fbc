/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ranks/iteration_spread.h"

#include <math.h>
#include <string.h>

#define LIKE_SHARE                                                                                 \
	0.2 /* by which the means of the iterations that were measured, and of all, may differ */
#define LIKE_ERRORS 3 /* standard errors of the mean by which they may differ in addition */
#define FREEDOM_MIN 5 /* iterations beyond one of each rank, below which the spread is not known */

/* Sets seconds[PROTOTYPES_MAX] to those of each phase in an iteration. */
static void seconds_by_phase(const struct rank_iterations *iterations,
		const struct rank_iteration *iteration, const uint32_t *phase, double *seconds)
{
	memset(seconds, 0, PROTOTYPES_MAX * sizeof(*seconds));
	for (uint32_t i = iteration->first; i < iteration->first + iteration->parts; i++) {
		const struct prototype_part *part = &iterations->part[i];

		if (phase[part->prototype])
			seconds[phase[part->prototype] - 1] += (double)part->seconds;
	}
}

/* Adds the time of one more iteration (the update of Welford 1962). */
static void add_time(struct iteration_spread *spread, double seconds)
{
	double off = spread->count > 0 ? seconds - spread->sum / spread->count : 0;

	spread->ranks = 1;
	spread->least = spread->count > 0 ? fmin(spread->least, seconds) : seconds;
	spread->most = fmax(spread->most, seconds);
	spread->sum += seconds;
	spread->count++;
	spread->squares += off * (seconds - spread->sum / spread->count);
}

void iteration_spreads_of(const struct rank_iterations *iterations,
		const uint32_t phase[PROTOTYPES_MAX], struct iteration_spreads *spreads)
{
	double seconds[PROTOTYPES_MAX];

	memset(spreads, 0, sizeof(*spreads));
	for (uint32_t i = 0; iterations && i < iterations->count; i++) {
		const struct rank_iteration *iteration = &iterations->iteration[i];

		add_time(&spreads->whole, iteration->seconds);
		seconds_by_phase(iterations, iteration, phase, seconds);
		for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
			add_time(&spreads->phase[p], seconds[p]);
	}
}

void iteration_spread_merge(struct iteration_spread *into, const struct iteration_spread *from)
{
	if (!(from->count > 0))
		return;
	into->least = into->count > 0 ? fmin(into->least, from->least) : from->least;
	into->most = fmax(into->most, from->most);
	into->ranks += from->ranks;
	into->count += from->count;
	into->sum += from->sum;
	into->squares += from->squares;
}

double iteration_spread_mean(const struct iteration_spread *spread)
{
	return spread->count > 0 ? spread->sum / spread->count : NAN;
}

double iteration_spread_sd(const struct iteration_spread *spread)
{
	double freedom = spread->count - spread->ranks;

	return freedom >= FREEDOM_MIN ? sqrt(spread->squares / freedom) : NAN;
}

bool iteration_spread_is_like(const struct iteration_spread *spread, double mean)
{
	double sd = iteration_spread_sd(spread);

	return isfinite(sd) &&
			fabs(iteration_spread_mean(spread) - mean) <=
			LIKE_SHARE * mean + LIKE_ERRORS * sd / sqrt(spread->count);
}
