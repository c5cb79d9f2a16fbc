/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/whatif/labels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/report_line.h"
#include "tools/results/structure_calls.h"

#define SURPLUS_MIN                                                                                \
	0.1 /* part of the time of a phase in the structure that is taken for another phase's */

/* Calls visit for each call of a body, and of the bodies in it. */
static void for_each_call(const json_t *body, const struct run_times *run,
		void (*visit)(void *data, const json_t *call, size_t phase), void *data)
{
	const json_t *token;
	size_t i;

	json_array_foreach (body, i, token) {
		int phase = run_times_find(run, report_get(token, "phase"));

		if (json_object_get(token, "body"))
			for_each_call(json_object_get(token, "body"), run, visit, data);
		else if (phase >= 0)
			visit(data, token, (size_t)phase);
	}
}

static void for_all_calls(const struct run_times *run,
		void (*visit)(void *data, const json_t *call, size_t phase), void *data)
{
	const json_t *structure,
			*all = json_object_get(json_object_get(run->report, "structure"),
					"structures");
	size_t i;

	json_array_foreach (all, i, structure)
		for_each_call(json_object_get(structure, "text"), run, visit, data);
}

/* ---- the times ---- */

static void add_time(void *data, const json_t *call, size_t phase)
{
	double *seconds = data;
	double time = report_get(call, "count") * structure_calls_mean(call, "burst_seconds");

	if (isfinite(time))
		seconds[phase] += time;
}

/* Makes the times parts of their sum. */
static void to_parts(double *seconds, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += seconds[i];
	for (size_t i = 0; sum > 0 && i < count; i++)
		seconds[i] /= sum;
}

/* ---- the places ---- */

/* Pairs of a phase of the structure, and a phase of the report that ends at a place of one of its calls. */
struct places {
	const struct run_times *run;
	bool (*shared)[RUN_TIMES_PHASES_MAX];
};

static bool is_on_path(const json_t *path, const char *position)
{
	const json_t *frame;
	size_t i;

	json_array_foreach (path, i, frame)
		if (strcmp(report_get_text(frame, "position"), position) == 0)
			return true;
	return false;
}

/* Returns whether bursts of a phase end in a call, by what the report has of their call paths. */
static bool ends_at(const json_t *phase, const json_t *call)
{
	const json_t *source;
	size_t i;

	json_array_foreach (json_object_get(phase, "source"), i, source)
		if (strcmp(report_get_text(source, "to_call"), report_get_text(call, "call")) ==
						0 &&
				is_on_path(json_object_get(source, "to_path"),
						report_get_text(call, "position")))
			return true;
	return false;
}

static void add_places(void *data, const json_t *call, size_t phase)
{
	const struct places *places = data;

	for (size_t p = 0; p < places->run->phases; p++)
		if (!places->shared[phase][p])
			places->shared[phase][p] = ends_at(places->run->phase[p].phase, call);
}

/* ---- the parts ---- */

/* Gives what a phase of the structure has too much to the phases that have too little there. */
static void divide(double *part, const bool *shared, const double *lacks, size_t phase,
		double surplus)
{
	double lacking = 0;

	for (size_t p = 0; p < RUN_TIMES_PHASES_MAX; p++)
		if (shared[p] && p != phase && lacks[p] > 0)
			lacking += lacks[p];
	if (!(lacking > 0))
		return;
	part[phase] = 1 - surplus;
	for (size_t p = 0; p < RUN_TIMES_PHASES_MAX; p++)
		if (shared[p] && p != phase && lacks[p] > 0)
			part[p] = surplus * lacks[p] / lacking;
}

bool labels_read(struct labels *labels, const struct run_times *run)
{
	double in_structure[RUN_TIMES_PHASES_MAX] = { 0 }, lacks[RUN_TIMES_PHASES_MAX] = { 0 };
	struct places places = { run, calloc(RUN_TIMES_PHASES_MAX, sizeof(*places.shared)) };

	labels->phases = run->phases;
	labels->part = calloc(RUN_TIMES_PHASES_MAX, sizeof(*labels->part));
	if (!labels->part || !places.shared) {
		free(places.shared);
		return false;
	}
	for_all_calls(run, add_time, in_structure);
	for_all_calls(run, add_places, &places);
	for (size_t p = 0; p < run->phases; p++)
		lacks[p] = run->phase[p].own.mean * run->phase[p].own.ranks;
	to_parts(in_structure, run->phases);
	to_parts(lacks, run->phases);
	for (size_t p = 0; p < run->phases; p++)
		lacks[p] -= in_structure[p];
	for (size_t p = 0; p < run->phases; p++) {
		labels->part[p][p] = 1;
		if (-lacks[p] > SURPLUS_MIN * in_structure[p])
			divide(labels->part[p], places.shared[p], lacks, p,
					-lacks[p] / in_structure[p]);
	}
	free(places.shared);
	return true;
}

double labels_factor(const struct labels *labels, size_t phase, const double *factor)
{
	double sum = 0;

	for (size_t p = 0; p < labels->phases; p++)
		sum += labels->part[phase][p] * factor[p];
	return sum;
}

double labels_rank_factor(const struct labels *labels, const struct run_times *run, size_t row,
		size_t phase, const double *factor)
{
	double sum = 0, weights = 0;

	for (size_t p = 0; p < labels->phases; p++) {
		double all = run->phase[p].own.mean * run->phase[p].own.ranks;
		double own = labels->part[phase][p] > 0 && all > 0 ? run_times_cell(run, row, p) :
								     0;
		double weight = own > 0 ? labels->part[phase][p] * own / all : 0;

		weights += weight;
		sum += weight * factor[p];
	}
	return weights > 0 ? sum / weights : labels_factor(labels, phase, factor);
}

size_t labels_main(const struct labels *labels, size_t phase)
{
	size_t most = phase;

	for (size_t p = 0; p < labels->phases; p++)
		if (labels->part[phase][p] > labels->part[phase][most])
			most = p;
	return most;
}

void labels_fini(struct labels *labels)
{
	free(labels->part);
	labels->part = NULL;
}
