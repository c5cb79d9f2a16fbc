/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/place.h"
#include "agent/text/report_line.h"
#include "tools/compare/causes.h"
#include "tools/compare/match.h"

static const struct {
	const char *key;
	double factor; /* from the unit of the quantity to that of the document */
} quantity_keys[] = {
	[QUANTITY_TIME] = { "seconds", 1 },
	[QUANTITY_BURSTS] = { "bursts", 1 },
	[QUANTITY_DURATION] = { "duration_seconds", 1 },
	[QUANTITY_WORK] = { "instructions", 1 },
	[QUANTITY_INSTRUCTIONS] = { "instructions_per_burst", 1 },
	[QUANTITY_CPI] = { "cpi", 1 },
	[QUANTITY_CYCLE] = { "nanoseconds_per_cycle", 1e9 },
};

/* All that is compared. */
struct comparison {
	const struct run *runs;
	size_t count, befores;
	struct match match;
	struct component_names names;
	struct causes causes;
	struct run_values *values; /* of the group at work, of each run */
};

/* Compares one number of the runs, which `step` bytes of their values separate. */
static struct difference compare(const struct comparison *all, const struct measure *first,
		size_t step, double factor)
{
	struct measure runs[COMPARISON_RUNS_MAX];

	for (size_t r = 0; r < all->count; r++) {
		const struct measure *own = (const void *)((const char *)first + r * step);

		runs[r] = (struct measure){ own->value * factor, own->ci95 * factor };
	}
	return difference_of(runs, all->befores, runs + all->befores, all->count - all->befores);
}

static struct difference compare_run(const struct comparison *all, const struct measure *first)
{
	return compare(all, first, sizeof(struct run), 1);
}

/* ---- one phase ---- */

static json_t *ids_of(const struct run *run, unsigned group)
{
	json_t *ids = json_array();

	for (size_t i = 0; i < run->count; i++)
		if (run->group[i] == group)
			json_array_append_new(ids,
					json_integer((json_int_t)report_get(run_phase(run, i),
							"id")));
	return ids;
}

/* Returns the phase of the run's group that has most time, NULL if there is none. */
static const json_t *largest_of(const struct run *run, unsigned group)
{
	const json_t *largest = NULL;

	for (size_t i = 0; i < run->count; i++) {
		const json_t *phase = run_phase(run, i);

		if (run->group[i] == group &&
				(!largest ||
						report_get(phase, "time_share") >
								report_get(largest, "time_share")))
			largest = phase;
	}
	return largest;
}

/* Adds one end of the phase's first pair of places, as the report's text names it. */
static void set_place(json_t *object, const json_t *phase, const char *key)
{
	const json_t *pair = json_array_get(json_object_get(phase, "source"), 0);
	struct place_text place = { "" };

	if (pair)
		place = place_end(pair, key, PLACE_NAME_MAX);
	json_object_set_new(object, key, *place.text ? json_string(place.text) : json_null());
}

static json_t *components_of(const struct comparison *all, const struct difference *differences)
{
	json_t *components = json_array();

	for (unsigned i = 0; i < all->names.count; i++) {
		json_t *component;

		if (!isfinite(differences[i].before) && !isfinite(differences[i].after))
			continue;
		component = difference_json(&differences[i]);
		json_object_set_new(component, "component", json_string(all->names.at[i].name));
		json_object_set_new(component, "level",
				json_integer(all->names.at[i].outer != NULL));
		json_array_append_new(components, component);
	}
	return components;
}

static const char *status_of(const struct comparison *all, unsigned group)
{
	bool before = false, after = false;

	for (size_t r = 0; r < all->count; r++)
		if (largest_of(&all->runs[r], group))
			*(r < all->befores ? &before : &after) = true;
	return before && after ? "both" : after ? "new" : "gone";
}

static json_t *phase_of(struct comparison *all, unsigned group)
{
	const struct run *before = all->runs, *after = &all->runs[all->befores];
	const char *status = status_of(all, group);
	const json_t *largest = largest_of(after, group);
	struct difference found[QUANTITIES], component[RUN_COMPONENTS_MAX];
	json_t *phase;

	for (size_t r = 0; r < all->count; r++)
		run_sum(&all->runs[r], group, &all->names, &all->values[r]);
	if (!largest)
		largest = largest_of(before, group);
	for (size_t r = 0; !largest && r < all->count; r++)
		largest = largest_of(&all->runs[r], group);
	phase = json_pack("{s:s,s:s,s:o,s:o}", "status", status, "matched_by",
			all->match.by_behaviour[group] ? "behaviour" : "place", "before",
			ids_of(before, group), "after", ids_of(after, group));
	set_place(phase, largest, "from");
	set_place(phase, largest, "to");
	for (unsigned q = 0; q < QUANTITIES; q++) {
		found[q] = compare(all, &all->values->at[q], sizeof(*all->values),
				quantity_keys[q].factor);
		json_object_set_new(phase, quantity_keys[q].key, difference_json(&found[q]));
	}
	for (unsigned i = 0; i < all->names.count; i++)
		component[i] = compare(all, &all->values->component[i], sizeof(*all->values), 1);
	json_object_set_new(phase, "cpi_breakdown", components_of(all, component));
	json_object_set_new(phase, "causes",
			causes_of_phase(&all->causes, strcmp(status, "both") == 0, found, component,
					&all->names));
	return phase;
}

/* ---- all phases ---- */

static double time_of(const json_t *phase)
{
	double before = report_get_in(phase, "seconds", "before");
	double after = report_get_in(phase, "seconds", "after");

	/* fmax() leaves out what is not known */
	return fmax(before, after);
}

static int by_time(const void *one, const void *other)
{
	double a = time_of(*(json_t *const *)one), b = time_of(*(json_t *const *)other);

	return (a < b) - (a > b);
}

/* Returns the phases with most time first. */
static json_t *phases_of(struct comparison *all)
{
	json_t **sorted = calloc(all->match.groups + 1, sizeof(json_t *));
	json_t *phases = json_array();

	for (unsigned group = 0; sorted && group < all->match.groups; group++)
		sorted[group] = phase_of(all, group);
	if (sorted)
		qsort(sorted, all->match.groups, sizeof(json_t *), by_time);
	for (unsigned group = 0; sorted && group < all->match.groups; group++)
		json_array_append_new(phases, sorted[group]);
	free(sorted);
	return phases;
}

/* ---- the runs ---- */

static json_t *runs_of(const struct run *runs, size_t count)
{
	static const char *const kept[] = { "command", "date", "ranks", "threads", "processor",
		"model", "emulated", "version", "wall_seconds", "without_counters" };
	json_t *array = json_array();

	for (size_t r = 0; r < count; r++) {
		json_t *object = json_object();

		/* a path may hold bytes that are no UTF-8, which JSON cannot */
		json_object_set_new(object, "path", json_string(runs[r].path));
		if (!json_is_string(json_object_get(object, "path")))
			json_object_set_new(object, "path", json_string("?"));
		for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
			json_t *value = json_object_get(runs[r].report, kept[i]);

			if (value)
				json_object_set(object, kept[i], value);
		}
		json_array_append_new(array, object);
	}
	return array;
}

/* Returns whether any run differs from the first one in what the report says under the key. */
static bool differ(const struct comparison *all, const char *key)
{
	for (size_t r = 1; r < all->count; r++) {
		const json_t *one = json_object_get(all->runs[0].report, key);
		const json_t *other = json_object_get(all->runs[r].report, key);

		if (one && other && !json_equal((json_t *)one, (json_t *)other))
			return true;
	}
	return false;
}

/* Returns what the reader has to know before the numbers. */
static json_t *notes_of(const struct comparison *all)
{
	static const struct {
		const char *key, *note;
	} unlike[] = {
		{ "ranks", "The runs have different numbers of ranks. Times are those of a rank or thread, in the mean." },
		{ "processor", "The runs were on different processors." },
		{ "model", "The runs counted by different CPI models. Components with the same name may differ in meaning." },
		{ "emulated", "The processor was not emulated alike in all runs, so that times cannot be compared." },
	};
	json_t *notes = json_array();

	if (all->count == 2)
		json_array_append_new(notes,
				json_string("One run on each side: the intervals hold what varies from burst to burst, and not what varies from run to run. That takes several runs, with --base."));
	for (size_t i = 0; i < sizeof(unlike) / sizeof(*unlike); i++)
		if (differ(all, unlike[i].key))
			json_array_append_new(notes, json_string(unlike[i].note));
	return notes;
}

/* Compares the times of a thread as a whole, and adds what is not in phases to the causes. */
static void set_times(struct comparison *all, json_t *document, const json_t *phases)
{
	struct difference wall = compare_run(all, &all->runs->wall);
	struct difference useful = compare_run(all, &all->runs->useful);
	struct difference imbalance = compare_run(all, &all->runs->imbalance);
	struct difference waiting = compare_run(all, &all->runs->waiting);
	double in_phases = 0;
	const json_t *phase;
	size_t i;

	json_array_foreach (phases, i, phase) {
		double change = report_get_in(phase, "seconds", "difference");

		in_phases += isfinite(change) ? change : 0;
	}
	causes_add(&all->causes, "unclassified", NULL, useful.change - in_phases, NAN);
	causes_add(&all->causes, "load balance", NULL, imbalance.change,
			all->count > 2 ? imbalance.ci95 : NAN);
	causes_add(&all->causes, "communication", NULL, waiting.change,
			all->count > 2 ? waiting.ci95 : NAN);
	if (all->count == 2)
		wall.ci95 = NAN; /* how much runs differ is not known from one on each side */
	json_object_set_new(document, "wall_seconds", difference_json(&wall));
	json_object_set_new(document, "useful_seconds", difference_json(&useful));
}

/*
 * Returns whether the wall time has grown by more than the threshold, beyond its interval. If that is not known,
 * the interval of the computing time is taken, which is a part of it.
 */
static bool is_worse(const json_t *document, double threshold)
{
	double error = report_get_in(document, "wall_seconds", "ci95");

	if (!isfinite(error))
		error = report_get_in(document, "useful_seconds", "ci95");
	if (!isfinite(error))
		error = 0;
	return report_get_in(document, "wall_seconds", "difference") - error >
			threshold * report_get_in(document, "wall_seconds", "before");
}

json_t *comparison_make(struct run *runs, size_t count, size_t befores, double threshold)
{
	struct comparison all = { .runs = runs, .count = count, .befores = befores };
	json_t *document = NULL, *phases;

	all.values = calloc(count, sizeof(*all.values));
	if (!all.values || match_runs(runs, count, befores, &all.match)) {
		match_fini(&all.match);
		free(all.values);
		return NULL;
	}
	for (size_t r = 0; r < count; r++)
		run_add_components(&runs[r], &all.names);
	document = json_pack("{s:i,s:o,s:o,s:o,s:s}", "phasemux_compare", 1, "before",
			runs_of(runs, befores), "after", runs_of(runs + befores, count - befores),
			"notes", notes_of(&all), "intervals", count > 2 ? "runs" : "bursts");
	phases = phases_of(&all);
	set_times(&all, document, phases);
	json_object_set_new(document, "threshold", json_real(threshold));
	json_object_set_new(document, "worse", json_boolean(is_worse(document, threshold)));
	json_object_set_new(document, "causes", causes_json(&all.causes));
	json_object_set_new(document, "phases", phases);
	match_fini(&all.match);
	free(all.values);
	return document;
}
