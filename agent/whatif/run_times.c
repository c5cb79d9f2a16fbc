/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/whatif/run_times.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/text/report_line.h"
#include "agent/whatif/ranks.h"

#define AMOUNT_MAX                                                                                 \
	1e15 /* of times and numbers of ranks, so that no sum is too large for a number */

/* Returns whether the number can be a time or a number of things. */
static bool is_amount(double value)
{
	return value >= 0 && value <= AMOUNT_MAX;
}

/* ---- the ranks ---- */

static void add_row(struct run_times *run, size_t rank, const json_t *time, double weight)
{
	double useful = report_get(time, "useful_seconds"), calls = report_get(time, "mpi_seconds");

	if (!is_amount(useful)) {
		run->missing = true;
		return;
	}
	run->rank[run->rows] = (double)rank;
	run->weight[run->rows] = weight;
	run->calls[run->rows] = is_amount(calls) ? calls : 0;
	run->useful[run->rows++] = useful;
}

/* Reads the time of each rank, or the deciles of it. The lowest and the highest decile stand for half a tenth each. */
static bool read_rows(struct run_times *run)
{
	const json_t *times = json_object_get(run->report, "rank_times");
	const json_t *list = json_object_get(times, "each"), *time;
	double sum = 0;
	size_t i, last;

	run->deciles = !json_is_array(list);
	if (run->deciles)
		list = json_object_get(times, "deciles");
	if (json_array_size(list) > RUN_TIMES_ROWS_MAX)
		return false;
	last = json_array_size(list) - 1;
	json_array_foreach (list, i, time)
		add_row(run, i, time, run->deciles && (i == 0 || i == last) ? 0.5 : 1);
	for (i = 0; i < run->rows; i++)
		sum += run->weight[i];
	for (i = 0; i < run->rows; i++)
		run->weight[i] /= sum;
	return run->rows > 0;
}

/* ---- the phases ---- */

/* Reads the times of a phase, or of several together. Sums over threads become means of the threads. */
static bool read_times(struct times *times, const json_t *object, double threads)
{
	times->ranks = report_get(object, "ranks");
	times->mean = report_get_in(object, "rank_seconds", "mean") / threads;
	times->most = report_get_in(object, "rank_seconds", "most") / threads;
	times->slowest = report_get(object, "slowest_rank");
	return is_amount(times->ranks) && times->ranks >= 1 && is_amount(times->mean) &&
			is_amount(times->most) && times->most >= times->mean * (1 - 1e-6);
}

static bool read_phase(struct run_times *run, const json_t *phase)
{
	struct phase_times *times = &run->phase[run->phases];
	double error = report_get(phase, "time_share_ci95") / report_get(phase, "time_share");

	*times = (struct phase_times){ .phase = phase, .set = run->phases };
	if (!read_times(&times->own, phase, run->threads))
		return false;
	times->all = times->own;
	times->error = is_amount(error) ? fmin(error, 1) : 0; /* no time is below 0 */
	run->phases++;
	return true;
}

/* Returns the lowest phase of those that are together with this one, or the phase itself. */
static size_t lowest_together(const struct run_times *run, size_t p, const json_t *ids)
{
	const json_t *id;
	size_t lowest = p, i;

	json_array_foreach (ids, i, id) {
		int other = run_times_find(run, json_number_value(id));

		if (other >= 0 && (size_t)other < lowest)
			lowest = (size_t)other;
	}
	return run->phase[lowest].set == lowest ? lowest : p;
}

/* Finds the phases that are together with others. In reports of unknown origin, the lowest of them may not say so itself. */
static void read_sets(struct run_times *run)
{
	for (size_t p = 0; p < run->phases; p++) {
		struct phase_times *times = &run->phase[p];
		const json_t *together = json_object_get(times->phase, "together");
		struct times all;

		if (!json_is_object(together) || !read_times(&all, together, run->threads))
			continue;
		times->all = all;
		times->set = lowest_together(run, p, json_object_get(together, "phases"));
	}
	for (size_t p = 0; p < run->phases; p++) {
		size_t next = p + 1;

		while (next < run->phases && run->phase[next].set != run->phase[p].set)
			next++;
		run->phase[p].next = next;
	}
}

static size_t row_of(const struct run_times *run, double rank)
{
	for (size_t row = 0; row < run->rows && !run->deciles; row++)
		if (run->rank[row] == rank)
			return row;
	return RANKS_NONE;
}

static bool fit(struct run_times *run)
{
	struct ranks_column column[RUN_TIMES_PHASES_MAX];

	run->cell = calloc(run->rows * (run->phases + 1), sizeof(*run->cell));
	if (!run->cell)
		return false;
	for (size_t p = 0; p < run->phases; p++) {
		const struct times *own = &run->phase[p].own;

		column[p] = (struct ranks_column){ own->mean * own->ranks / run->ranks, own->most,
			row_of(run, own->slowest) };
	}
	ranks_fit(run->cell, run->rows, run->useful, run->weight, run->phases, column);
	return true;
}

/* ---- the report ---- */

static bool refuse_version(const json_t *report, char *why, size_t why_size)
{
	snprintf(why, why_size,
			"phasemux %.40s made this result, without the time of the ranks in each phase; run "
			"the program again with this version",
			report_get_text(report, "version"));
	return false;
}

static bool run_times_refuse(char *why, size_t why_size, const char *reason)
{
	snprintf(why, why_size, "%s", reason);
	return false;
}

bool run_times_read(struct run_times *run, const json_t *report, char *why, size_t why_size)
{
	const json_t *phase;
	size_t i;

	*run = (struct run_times){ .report = report };
	run->wall = report_get(report, "wall_seconds");
	run->ranks = report_get(report, "ranks");
	run->threads = fmax(1, report_get(report, "threads_mean") / run->ranks);
	if (!is_amount(run->wall) || run->wall == 0 || !is_amount(run->ranks) || run->ranks < 1)
		return refuse_version(report, why, why_size);
	if (!is_amount(run->threads) || !read_rows(run))
		return refuse_version(report, why, why_size);
	if (!json_array_size(json_object_get(report, "phases")))
		return run_times_refuse(why, why_size, "this result has no phase");
	json_array_foreach (json_object_get(report, "phases"), i, phase)
		if (run->phases < RUN_TIMES_PHASES_MAX && !read_phase(run, phase))
			return refuse_version(report, why, why_size);
	read_sets(run);
	return fit(run) || run_times_refuse(why, why_size, "no memory");
}

void run_times_fini(struct run_times *run)
{
	free(run->cell);
	run->cell = NULL;
}

double run_times_cell(const struct run_times *run, size_t row, size_t phase)
{
	return run->cell[row * (run->phases + 1) + phase];
}

int run_times_find(const struct run_times *run, double id)
{
	for (size_t p = 0; p < run->phases; p++)
		if (report_get(run->phase[p].phase, "id") == id)
			return (int)p;
	return -1;
}

double run_times_rest(const struct run_times *run)
{
	double rest = 0;

	for (size_t row = 0; row < run->rows; row++)
		rest += run->weight[row] * run_times_cell(run, row, run->phases);
	return rest;
}
