/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/whatif/communication.h"

#include <math.h>
#include <string.h>

#include "agent/text/report_line.h"

#define PLACES_MAX 8 /* places of a phase that are compared: those with most of its time */

/* ---- phases whose bursts the ranks may execute at the same time ---- */

static bool is_same(const json_t *one, const json_t *other, const char *key)
{
	return strcmp(report_get_text(one, key), report_get_text(other, key)) == 0;
}

/* Returns whether some bursts of both phases are between the same two calls. */
static bool share_place(const json_t *one, const json_t *other)
{
	const json_t *ones = json_object_get(one, "source");
	const json_t *others = json_object_get(other, "source");

	for (size_t i = 0; i < PLACES_MAX && i < json_array_size(ones); i++)
		for (size_t k = 0; k < PLACES_MAX && k < json_array_size(others); k++) {
			const json_t *own = json_array_get(ones, i);
			const json_t *its = json_array_get(others, k);

			if (is_same(own, its, "from") && is_same(own, its, "to"))
				return true;
		}
	return false;
}

/* Sets group[phase] to the lowest phase of those that share a place or a set with it, also by way of others. */
static void read_groups(const struct run_times *run, size_t *group)
{
	for (size_t p = 0; p < run->phases; p++) {
		group[p] = p;
		for (size_t other = 0; other < p; other++) {
			size_t one = group[p], two = group[other];

			if (one == two ||
					(run->phase[p].set != run->phase[other].set &&
							!share_place(run->phase[p].phase,
									run->phase[other].phase)))
				continue;
			for (size_t i = 0; i <= p; i++)
				if (group[i] == one || group[i] == two)
					group[i] = one < two ? one : two;
		}
	}
}

/* ---- the time of the slowest bursts ---- */

/* Sums over the phases of a group. */
struct sums {
	double time;   /* of all ranks, in seconds */
	double ranks;  /* number of ranks that execute it */
	double most;   /* time of the rank with most of it */
	double varies; /* variance of the means of the ranks, by the square of their mean */
	double bursts; /* number of bursts */
	double length, squared; /* sums of the bursts' lengths, and of their squares; NAN: not known */
};

static void add_phase(struct sums *sums, const struct run_times *run, size_t p)
{
	const struct phase_times *times = &run->phase[p];
	double bursts = report_get(times->phase, "bursts");
	double mean = report_get_in(times->phase, "duration_seconds", "mean");
	double sd = report_get_in(times->phase, "duration_seconds", "sd");
	bool sliced = report_get(times->phase, "slices") >
			0; /* slices do not tell how bursts vary */

	sums->time += times->own.mean * times->own.ranks;
	sums->ranks = times->all.ranks > sums->ranks ? times->all.ranks : sums->ranks;
	sums->most = times->all.most > sums->most ? times->all.most : sums->most;
	sums->bursts += bursts;
	sums->length += bursts * mean;
	sums->squared += sliced ? NAN : bursts * (mean * mean + sd * sd);
}

/* Adds how the times of ranks in a group differ. */
static void add_rows(struct sums *sums, const struct run_times *run, const size_t *group, size_t g)
{
	double mean = 0, squared = 0;

	for (size_t row = 0; row < run->rows; row++) {
		double time = 0;

		for (size_t p = g; p < run->phases; p++)
			time += group[p] == g ? run_times_cell(run, row, p) : 0;
		mean += run->weight[row] * time;
		squared += run->weight[row] * time * time;
		sums->most = time > sums->most ? time : sums->most;
	}
	/* if not all ranks execute the group, the report does not say which ones do */
	if (mean > 0 && sums->ranks >= run->ranks)
		sums->varies = squared / (mean * mean) - 1;
}

/* Returns the time for the phases of a group if all ranks wait for the slowest burst each time. */
static double slowest_bursts(const struct run_times *run, const size_t *group, size_t g)
{
	struct sums sums = { .time = 0 };
	double varies, time;

	for (size_t p = g; p < run->phases; p++)
		if (group[p] == g)
			add_phase(&sums, run, p);
	add_rows(&sums, run, group, g);
	varies = sums.squared * sums.bursts / (sums.length * sums.length) - 1 - sums.varies;
	if (!isfinite(varies))
		return sums.time;
	varies = varies > 0 ? sqrt(varies) : 0;
	time = sums.most + sums.time / sums.ranks * varies * sqrt(sums.ranks - 1);
	return time < sums.time ? time : sums.time;
}

/* Returns the longest time that the rank which computes longest may have waited for others. */
static double longest_waiting(const struct run_times *run)
{
	double path = run_times_rest(run) * run->ranks, most = 0;
	size_t group[RUN_TIMES_PHASES_MAX];

	read_groups(run, group);
	for (size_t p = 0; p < run->phases; p++)
		if (group[p] == p)
			path += slowest_bursts(run, group, p);
	for (size_t row = 0; row < run->rows; row++)
		most = run->useful[row] > most ? run->useful[row] : most;
	return path > most ? path - most : 0;
}

void communication_read(struct run_times *run)
{
	struct communication *communication = &run->communication;

	*communication = (struct communication){ 0, 0 };
	for (size_t row = 0; run->ranks > 1 && row < run->rows; row++)
		if (run->calls[row] > 0 &&
				(communication->most == 0 || run->calls[row] < communication->most))
			communication->most = run->calls[row];
	/* threads of a rank wait for each other as well */
	if (run->threads > 1 || communication->most == 0)
		return;
	communication->least = communication->most - longest_waiting(run);
	if (!(communication->least > 0))
		communication->least = 0;
}
