/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/whatif/foresee.h"

#include <math.h>

static bool is_first(const struct run_times *run, size_t p)
{
	return run->phase[p].set == p;
}

/* Returns the time of a row in a set of phases, or with a change what it becomes without a better balance. */
static double row_in_set(const struct run_times *run, size_t row, size_t set,
		const struct change *change)
{
	double sum = 0;

	for (size_t p = set; p < run->phases; p = run->phase[p].next)
		sum += run_times_cell(run, row, p) * (change ? change->factor[p] : 1);
	return sum;
}

/* Returns the most time of a row in a set. */
static double most_in_set(const struct run_times *run, size_t set, const struct change *change)
{
	double most = 0;

	for (size_t row = 0; row < run->rows; row++)
		most = fmax(most, row_in_set(run, row, set, change));
	return most;
}

/* Returns the time of each of the ranks that share the work of a set after the change, if all have the same. */
static double shared_in_set(const struct run_times *run, size_t set, const struct change *change)
{
	double sum = 0;

	for (size_t p = set; p < run->phases; p = run->phase[p].next)
		sum += run->phase[p].own.mean * run->phase[p].own.ranks * change->factor[p];
	return sum / (change->all_balanced ? run->ranks : run->phase[set].all.ranks);
}

static bool is_balanced(const struct change *change, size_t set)
{
	return change->all_balanced || change->balanced[set];
}

/* Returns the time of the slowest rank in a set after the change. */
static double slowest_in_set(const struct run_times *run, size_t set, const struct change *change)
{
	double before = most_in_set(run, set, NULL);

	if (is_balanced(change, set))
		return shared_in_set(run, set, change);
	/* the table of ranks is an estimate, and the report's most is exact */
	return before > 0 ? run->phase[set].all.most * most_in_set(run, set, change) / before : 0;
}

/* Returns the half-width of what a set saves. */
static double error_of_set(const struct run_times *run, size_t set, const struct change *change,
		double saved)
{
	double factors = 0, times = 0, time = 0;

	for (size_t p = set; p < run->phases; p = run->phase[p].next) {
		const struct times *own = &run->phase[p].own;

		factors = hypot(factors, change->error[p] * own->most);
		times = hypot(times, run->phase[p].error * own->mean * own->ranks);
		time += own->mean * own->ranks;
	}
	return hypot(factors, time > 0 ? saved * times / time : 0);
}

/* ---- if ranks wait for each other after each phase ---- */

/* Returns what the slowest rank of each phase saves, in sum over the phases, and sets the half-width of it. */
static double saved_in_phases(const struct run_times *run, const struct change *change,
		double *error)
{
	double sum = (1 - change->rest) * run_times_rest(run);

	*error = 0;
	for (size_t p = 0; p < run->phases; p++) {
		double saved;

		if (!is_first(run, p))
			continue;
		saved = run->phase[p].all.most - slowest_in_set(run, p, change);
		*error = hypot(*error, error_of_set(run, p, change, saved));
		sum += saved;
	}
	return sum;
}

/* ---- if ranks wait for each other only at the end ---- */

/*
 * Returns the time of a row in a set after the change. If not all ranks execute a set that becomes balanced, the report does
 * not say which others do. So what the slowest rank loses is divided by the time that they have.
 */
static double changed_in_set(const struct run_times *run, size_t row, size_t set,
		const struct change *change)
{
	const struct times *all = &run->phase[set].all;
	double shared, others;

	if (!is_balanced(change, set))
		return row_in_set(run, row, set, change);
	shared = shared_in_set(run, set, change);
	if (change->all_balanced || all->ranks >= run->ranks || run->rank[row] == all->slowest)
		return shared;
	others = all->ranks * all->mean - all->most;
	return others > 0 ? fmin(shared,
					    row_in_set(run, row, set, NULL) * (all->ranks - 1) *
							    shared / others) :
			    0;
}

static double changed_row(const struct run_times *run, size_t row, const struct change *change)
{
	double rest = change->all_balanced ? run_times_rest(run) :
					     run_times_cell(run, row, run->phases);
	double sum = rest * change->rest;

	for (size_t p = 0; p < run->phases; p++)
		if (is_first(run, p))
			sum += changed_in_set(run, row, p, change);
	return sum;
}

static double most_useful(const struct run_times *run)
{
	double most = 0;

	for (size_t row = 0; row < run->rows; row++)
		most = fmax(most, run->useful[row]);
	return most;
}

/* ---- both ---- */

/* Returns the part of its time that no phase can become shorter than, without a better balance. */
static double least_factor(const struct run_times *run, const struct change *change)
{
	double least = fmin(fmin(1, change->rest), change->communication);

	for (size_t p = 0; p < run->phases; p++) {
		if (is_balanced(change, run->phase[p].set))
			return 0;
		least = fmin(least, change->factor[p]);
	}
	return least;
}

void foresee(struct foreseen *foreseen, const struct run_times *run, const struct change *change)
{
	double error, saved = saved_in_phases(run, change, &error);
	double part = 1 - change->communication, at_phases, at_end;

	*foreseen = (struct foreseen){ .equal = change->all_balanced,
		.communication = change->communication };
	for (size_t row = 0; row < run->rows; row++) {
		double useful = changed_row(run, row, change);

		if (useful <= foreseen->bound)
			continue;
		foreseen->bound = useful;
		foreseen->row = row;
	}
	/* if only one thread of several executes a phase, the run waits for it */
	at_phases = run->wall - saved * run->threads - part * run->communication.least;
	at_phases = fmax(at_phases, fmax(foreseen->bound, run->wall * least_factor(run, change)));
	at_end = run->wall - most_useful(run) - part * run->communication.most;
	at_end = fmax(at_end, 0) + foreseen->bound;
	foreseen->least = fmin(at_phases, at_end);
	foreseen->most = fmax(at_phases, at_end);
	foreseen->error = error;
}

double foresee_unchanged(const struct run_times *run)
{
	double path = run_times_rest(run);

	for (size_t p = 0; p < run->phases; p++)
		if (is_first(run, p))
			path += run->phase[p].all.most;
	return run->threads > 1 || path > run->wall ? NAN : run->wall - path;
}
