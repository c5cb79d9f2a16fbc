/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phasemux validate -- COMMAND: runs the program once for every group of counters without
 * multiplexing, which is the truth, and once with every scheme (thesis 7.3). Phases are matched
 * between runs by their instructions and IPC, and by the calls before and after them.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/progress.h"
#include "tools/validate/child.h"
#include "tools/validate/validate.h"

#define PHASES_MAX 64
#define PHASE_NEAR .35 /* two phases are one if ln instructions and ln IPC are within this */

/* One run's report, and the match of its phases with those of the first run. */
struct report {
	json_t *root;
	int phase[PHASES_MAX]; /* index in "phases" of the first run's phase i, or -1 */
};

struct runs {
	const struct validate_options *options;
	char folder[PATH_MAX];
	unsigned groups, done, all, plains;
	struct report *plain;  /* runs x groups, of which `plains` are filled */
	struct report *scheme; /* runs x SCHEME_KINDS */
	struct verdict_table table;
	unsigned group[PLAN_EVENTS_MAX]; /* of each event */
};

/* Runs the command and loads its report. Returns 0, or 1 after a message. */
static int run(struct runs *runs, const char *scheme, unsigned group, struct report *report)
{
	char folder[PATH_MAX + 32], number[16];
	const char *const options[] = { "--scheme", scheme, "--group", number, "--report", "json",
		NULL };

	snprintf(folder, sizeof(folder), "%s/%u", runs->folder, runs->done);
	snprintf(number, sizeof(number), "%u", group);
	report->root = child_run(options, folder, runs->options->command);
	if (!report->root)
		return 1;
	progress("running", runs->all ? (double)++runs->done / runs->all : ++runs->done * 0.);
	return 0;
}

static const json_t *phases_of(const struct report *report)
{
	return json_object_get(report->root, "phases");
}

static double real(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const json_t *counter(const json_t *phase, const char *name)
{
	return json_object_get(json_object_get(phase, "counters"), name);
}

/* Sets the position of a phase: ln of its instructions (or time, if they are not counted), ln of its IPC. */
static void place_phase(const json_t *phase, const struct verdict_table *table, double at[2])
{
	double cycles = table->common > 1 ? real(counter(phase, table->name[0]), "mean") : NAN;
	double instructions =
			table->common > 1 ? real(counter(phase, table->name[1]), "mean") : NAN;

	at[0] = log(isnan(instructions) ? real(json_object_get(phase, "duration_seconds"), "mean") :
					  instructions);
	at[1] = isnan(instructions) ? 0 : log(instructions / cycles);
}

/* Returns whether the largest parts of both phases are between the same two calls of the program. */
static bool same_source(const json_t *one, const json_t *other)
{
	static const char *const keys[] = { "from", "from_call", "to", "to_call" };
	const json_t *of_one = json_array_get(json_object_get(one, "source"), 0);
	const json_t *of_other = json_array_get(json_object_get(other, "source"), 0);
	bool same = of_one && of_other;

	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys) && same; i++)
		same = json_equal(json_object_get(of_one, keys[i]),
				json_object_get(of_other, keys[i]));
	return same;
}

/* Returns the nearest of a run's phases that is not taken, or -1 if none is near. */
static int nearest(const struct runs *runs, const json_t *wanted, const json_t *phases,
		const bool taken[PHASES_MAX], bool of_same_source)
{
	double where[2], best = PHASE_NEAR;
	int found = -1;

	place_phase(wanted, &runs->table, where);
	for (unsigned i = 0; i < json_array_size(phases) && i < PHASES_MAX; i++) {
		const json_t *phase = json_array_get(phases, i);
		double at[2], far;

		if (taken[i] || (of_same_source && !same_source(wanted, phase)))
			continue;
		place_phase(phase, &runs->table, at);
		far = fmax(fabs(at[0] - where[0]), fabs(at[1] - where[1]));
		if (!(far < best))
			continue;
		best = far;
		found = (int)i;
	}
	return found;
}

/* Finds the first run's phases in another run, most time first. Each is matched at most once. */
static void runs_match(const struct runs *runs, struct report *report)
{
	const json_t *first = phases_of(&runs->plain[0]), *other = phases_of(report);
	bool taken[PHASES_MAX] = { false };

	for (unsigned i = 0; i < runs->table.phases; i++)
		report->phase[i] = -1;
	/* phases between other calls than before are matched after all others */
	for (int pass = 0; pass < 2; pass++) {
		for (unsigned i = 0; i < runs->table.phases; i++) {
			int *phase = &report->phase[i];

			if (*phase >= 0)
				continue;
			*phase = nearest(runs, json_array_get(first, i), other, taken, pass == 0);
			if (*phase >= 0)
				taken[*phase] = true;
		}
	}
}

static const json_t *matched(const struct report *report, unsigned phase)
{
	return report->phase[phase] < 0 ? NULL :
					  json_array_get(phases_of(report), report->phase[phase]);
}

/* Sets the phases and the events to judge. Call after the first run. */
static int lay_out(struct runs *runs)
{
	const json_t *groups = json_object_get(runs->plain[0].root, "groups"), *phases;
	struct verdict_table *table = &runs->table;
	double held = 0;

	runs->groups = json_array_size(groups);
	table->name = calloc(PLAN_EVENTS_MAX, sizeof(*table->name));
	for (unsigned g = 0; table->name && g < runs->groups; g++) {
		const json_t *events = json_object_get(json_array_get(groups, g), "events");

		for (unsigned i = 0; i < json_array_size(events); i++) {
			const char *name = json_string_value(json_array_get(events, i));
			unsigned e = 0;

			while (e < table->events && strcmp(table->name[e], name) != 0)
				e++;
			if (e == table->events && e < PLAN_EVENTS_MAX) {
				runs->group[e] = g;
				table->name[table->events++] = name;
			}
			/* events of a later group that are in the first one are common to all */
			if (g == 1 && i == e)
				table->common = e + 1;
		}
	}
	phases = phases_of(&runs->plain[0]);
	while (table->phases < json_array_size(phases) && table->phases < PHASES_MAX &&
			held < runs->options->share)
		held += real(json_array_get(phases, table->phases++), "time_share");
	if (table->name && table->phases && runs->groups > 1)
		return 0;
	fprintf(stderr, "phasemux: %s\n",
			runs->groups > 1 ?
					"the run has no phases" :
					"all events fit into one group here: there is nothing to multiplex");
	return 1;
}

/* Returns a phase's event in run r of those without multiplexing, or NULL if this run did not count it. */
static const json_t *counted(const struct runs *runs, unsigned phase, unsigned event, size_t r)
{
	if (event >= runs->table.common && r % runs->groups != runs->group[event])
		return NULL;
	return counter(matched(&runs->plain[r], phase), runs->table.name[event]);
}

/* Returns the event's mean over these runs except `without` (`plains`: over all); NAN: none counted it. */
static double truth_of(const struct runs *runs, unsigned phase, unsigned event, size_t without)
{
	double sum = 0;
	unsigned count = 0;

	for (size_t r = 0; r < runs->plains; r++) {
		double value = r == without ? NAN : real(counted(runs, phase, event, r), "mean");

		if (isnan(value))
			continue;
		sum += value;
		count++;
	}
	return count ? sum / count : NAN;
}

/* Returns the mean weighted error of the common counters, which need no multiplexing. */
static double cells_apart(const struct replay_cell *cells, const struct verdict_table *table)
{
	double sum = 0;
	unsigned count = 0;

	for (unsigned i = 0; i < table->phases * table->events; i++)
		if (i % table->events < table->common && cells[i].seen) {
			sum += cells[i].error;
			count++;
		}
	return count ? sum / count : NAN;
}

/*
 * Compares a scheme's runs with those without multiplexing. For SCHEME_NONE, compares each of the latter with
 * the others.
 */
static void judge_cell(const struct runs *runs, int kind, unsigned phase, unsigned event,
		struct replay_cell *cell, unsigned *held)
{
	const struct verdict_table *table = &runs->table;
	double noise = verdict_noise(table, phase * table->events + event);
	unsigned to = event < table->common ? event : verdict_reference(table->name[event]);
	size_t judged = kind == SCHEME_NONE ? runs->plains : runs->options->runs;
	double reference = truth_of(runs, phase, to < table->common ? to : 0, runs->plains);

	cell->truth = truth_of(runs, phase, event, runs->plains);
	cell->relevance = cell->truth / reference;
	for (size_t r = 0; r < judged; r++) {
		const json_t *estimate;
		double mean, ci95;

		if (kind == SCHEME_NONE) {
			estimate = counted(runs, phase, event, r);
			/* a run's interval does not include the differences between runs */
			verdict_judge(cell, real(estimate, "mean"), NAN,
					truth_of(runs, phase, event, r), reference);
			continue;
		}
		estimate = counter(matched(&runs->scheme[r * SCHEME_KINDS + kind], phase),
				table->name[event]);
		mean = real(estimate, "mean");
		ci95 = real(estimate, "ci95");
		verdict_judge(cell, mean, ci95, cell->truth, reference);
		*held += verdict_holds(mean, ci95, cell->truth,
				noise * replay_whole(cell->truth, reference));
	}
	verdict_average(cell);
}

/* Judges all cells of a scheme. Returns 0 or -ENOMEM. */
static int judge_scheme(struct runs *runs, int kind)
{
	struct verdict_table *table = &runs->table;
	struct verdict *verdict = &table->verdict[kind];
	struct plan plan = { .events = table->events, .common = table->common };
	unsigned cells = table->phases * table->events;

	verdict->cells = calloc(cells, sizeof(*verdict->cells));
	verdict->held = calloc(cells, sizeof(*verdict->held));
	if (!verdict->cells || !verdict->held)
		return -ENOMEM;
	for (unsigned i = 0; i < cells; i++)
		judge_cell(runs, kind, i / table->events, i % table->events, &verdict->cells[i],
				&verdict->held[i]);
	replay_summarise(verdict->cells, table->phases, &plan, runs->options->runs,
			&verdict->summary);
	verdict->weighted_error = cells_apart(verdict->cells, table);
	return 0;
}

/* Makes room for the runs after the first one. */
static int make_room(struct runs *runs)
{
	size_t plains = runs->options->runs * runs->groups;
	struct report *plain = calloc(plains, sizeof(*plain));

	runs->scheme = calloc(runs->options->runs * SCHEME_KINDS, sizeof(*runs->scheme));
	if (!plain || !runs->scheme) {
		free(plain);
		return -ENOMEM;
	}
	plain[0] = runs->plain[0];
	free(runs->plain);
	runs->plain = plain;
	runs->plains = plains;
	return 0;
}

/* Runs all kinds in turn, so that a busy minute of the machine does not affect only one of them. */
static int run_all(struct runs *runs)
{
	const struct validate_options *options = runs->options;
	int code = run(runs, "none", 0, &runs->plain[0]);

	if (code || lay_out(runs))
		return 1;
	if (make_room(runs)) {
		fprintf(stderr, "phasemux: %s\n", strerror(ENOMEM));
		return 1;
	}
	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		runs->all += options->scheme[kind] * options->runs;
	runs->all += runs->groups * options->runs;
	runs_match(runs, &runs->plain[0]);
	for (unsigned r = 0; r < options->runs && !code; r++) {
		for (unsigned g = r == 0; g < runs->groups && !code; g++) {
			code = run(runs, "none", g, &runs->plain[r * runs->groups + g]);
			if (!code)
				runs_match(runs, &runs->plain[r * runs->groups + g]);
		}
		for (int kind = 0; kind < SCHEME_KINDS && !code; kind++) {
			struct report *report = &runs->scheme[r * SCHEME_KINDS + kind];

			if (!options->scheme[kind])
				continue;
			code = run(runs, scheme_name(kind), 0, report);
			if (!code)
				runs_match(runs, report);
		}
	}
	return code;
}

static int judge_all(struct runs *runs)
{
	struct verdict_table *table = &runs->table;
	int error = judge_scheme(runs, SCHEME_NONE); /* first, because the others need it */

	for (int kind = 0; kind < SCHEME_NONE && !error; kind++)
		if (runs->options->scheme[kind])
			error = judge_scheme(runs, kind);
	if (error) {
		fprintf(stderr, "phasemux: %s\n", strerror(-error));
		return 1;
	}
	if (runs->options->json) {
		json_t *root = verdict_json(table);

		json_object_set_new(root, "runs", json_integer(runs->options->runs));
		verdict_write(root);
		return 0;
	}
	printf("%s: %u phases, %u counters in %u groups, each run %zu times\n",
			runs->options->command[0], table->phases, table->events, runs->groups,
			runs->options->runs);
	verdict_print(table);
	return 0;
}

int validate_runs(const struct validate_options *options)
{
	const char *where = getenv("TMPDIR");
	struct runs runs = { .options = options,
		.plain = calloc(1, sizeof(*runs.plain)),
		.plains = 1 };
	int code = 1;

	snprintf(runs.folder, sizeof(runs.folder), "%s/phasemux-validate.XXXXXX",
			where && *where ? where : "/tmp");
	if (!runs.plain || !mkdtemp(runs.folder)) {
		fprintf(stderr, "phasemux: %s: %s\n", runs.folder, strerror(errno));
	} else {
		progress("running", 0);
		code = run_all(&runs);
		progress("running", 1);
		if (!code)
			code = judge_all(&runs);
		child_remove(runs.folder);
	}
	for (unsigned r = 0; runs.plain && r < runs.plains; r++)
		json_decref(runs.plain[r].root);
	for (unsigned r = 0; runs.scheme && r < options->runs * SCHEME_KINDS; r++)
		json_decref(runs.scheme[r].root);
	free(runs.plain);
	free(runs.scheme);
	verdict_fini(&runs.table);
	return code;
}
