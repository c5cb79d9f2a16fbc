/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * phasemux validate --counters emulated -- COMMAND: runs the program once with every scheme in the emulator, which
 * records all counts of every burst beside the groups that are counted. So the estimates of a run are compared with
 * the truth of the same run. The bursts of the first run are then replayed with other groups at other times, which
 * shows how often intervals contain the truth.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sampling/emulated/emulated_counts.h"
#include "tools/progress.h"
#include "tools/validate/child.h"
#include "tools/validate/recorded.h"
#include "tools/validate/validate.h"

struct emulated {
	const struct validate_options *options;
	const char *folder;
	unsigned runs; /* number of schemes that were run */
	struct recorded recorded[SCHEME_KINDS];
	bool open[SCHEME_KINDS];
	struct verdict_table table;
};

static void folder_of(char path[PATH_MAX], const struct emulated *emulated, int kind)
{
	snprintf(path, PATH_MAX, "%s/%s", emulated->folder, scheme_name(kind));
}

/* ---- runs ---- */

/* Runs the command with one scheme. Returns 0, or 1 after a message. */
static int run_scheme(struct emulated *emulated, int kind)
{
	const struct validate_options *options = emulated->options;
	char folder[PATH_MAX], reads[PATH_MAX + 64];
	const char *words[] = { "--counters", "emulated", "--events", "auto", "--scheme",
		/* of a slice no read records the truth */
		scheme_name(kind), "--report", "json,bursts", "--sample", "0",
		options->core ? "--core" : NULL, options->core, NULL };
	json_t *report;

	folder_of(folder, emulated, kind);
	snprintf(reads, sizeof(reads), RECORDED_READS, folder);
	/* the records of an earlier run would be before those of this one */
	if ((unlink(reads) && errno != ENOENT) || setenv(EMULATED_READS, reads, 1)) {
		fprintf(stderr, "phasemux: %s: %s\n", reads, strerror(errno));
		return 1;
	}
	report = child_run(words, folder, options->command);
	json_decref(report);
	return report ? 0 : 1;
}

static int run_all(struct emulated *emulated)
{
	const struct validate_options *options = emulated->options;
	unsigned all = 0, done = 0;
	int code = 0;

	for (int kind = 0; kind < SCHEME_NONE; kind++)
		all += options->scheme[kind];
	for (int kind = 0; kind < SCHEME_NONE && !code; kind++) {
		if (!options->scheme[kind])
			continue;
		progress("running", (double)done++ / all);
		code = run_scheme(emulated, kind);
	}
	progress("running", 1);
	return code;
}

/* ---- judgement ---- */

/* Opens the run of a scheme. Returns 0, or 1 after a message. */
static int open_run(struct emulated *emulated, int kind)
{
	struct recorded *recorded = &emulated->recorded[kind];
	char folder[PATH_MAX], path[PATH_MAX + 64];
	json_error_t error;
	json_t *report;

	folder_of(folder, emulated, kind);
	snprintf(path, sizeof(path), "%s/report.json", folder);
	report = json_load_file(path, 0, &error);
	if (!report) {
		fprintf(stderr, "phasemux: %s: %s\n", path, error.text);
		return 1;
	}
	emulated->open[kind] = true;
	if (recorded_open(recorded, report, folder))
		return 1;
	if (recorded->lost)
		fprintf(stderr,
				"phasemux: %s: %zu of %zu bursts were not recorded, and are left out of "
				"the truth\n",
				folder, recorded->lost, recorded->lost + recorded->table.count);
	return 0;
}

/* Opens the runs that there are. Returns 0, or 1 after a message. */
static int open_runs(struct emulated *emulated)
{
	int code = 0;

	for (int kind = 0; kind < SCHEME_NONE && !code; kind++) {
		char folder[PATH_MAX];

		folder_of(folder, emulated, kind);
		if (!emulated->options->scheme[kind] || access(folder, F_OK))
			continue;
		code = open_run(emulated, kind);
		emulated->runs++;
	}
	if (!code && !emulated->runs) {
		fprintf(stderr, "phasemux: %s: no run of these schemes is there\n",
				emulated->folder);
		code = 1;
	}
	return code;
}

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

/* Compares an estimate of the report with the truth. */
static void judge_cell(const struct recorded *recorded, unsigned phase, unsigned event,
		struct replay_cell *cell)
{
	const struct recorded_means *row = &recorded->means[phase * recorded->plan.events];
	const json_t *estimate = json_object_get(
			json_object_get(json_array_get(json_object_get(recorded->report, "phases"),
							phase),
					"counters"),
			recorded->name[event]);
	unsigned to = event < 2 ? event : verdict_reference(recorded->name[event]);
	double reference = row[to].truth;

	cell->truth = row[event].truth;
	cell->relevance = cell->truth / reference;
	if (!isnan(number_of(estimate, "mean")))
		verdict_judge(cell, number_of(estimate, "mean"), number_of(estimate, "ci95"),
				cell->truth, reference);
	cell->plain = fabs(row[event].plain - cell->truth) / replay_whole(cell->truth, reference);
	verdict_average(cell);
}

/* Returns how many phases hold the share of the time that is to be judged. */
static unsigned count_phases(const struct recorded *recorded, double share)
{
	const json_t *phases = json_object_get(recorded->report, "phases");
	unsigned count = 0;
	double held = 0;

	while (count < recorded->phases && held < share)
		held += number_of(json_array_get(phases, count++), "time_share");
	return count;
}

/* Judges the run of a scheme. Returns 0 or -ENOMEM. */
static int judge_run(struct emulated *emulated, int kind)
{
	const struct recorded *recorded = &emulated->recorded[kind];
	struct verdict *verdict = &emulated->table.verdict[kind];
	unsigned events = recorded->plan.events;

	verdict->phases = count_phases(recorded, emulated->options->share);
	if (verdict->phases > emulated->table.phases)
		emulated->table.phases = verdict->phases;
	verdict->cells = calloc((size_t)verdict->phases * events + 1, sizeof(*verdict->cells));
	if (!verdict->cells)
		return -ENOMEM;
	for (unsigned i = 0; i < verdict->phases * events; i++)
		judge_cell(recorded, i / events, i % events, &verdict->cells[i]);
	replay_summarise(verdict->cells, verdict->phases, &recorded->plan, 1, &verdict->summary);
	verdict->weighted_error = NAN;
	return 0;
}

/* Returns the scheme of the first run that is open. */
static int first_run(const struct emulated *emulated)
{
	int kind = 0;

	while (!emulated->open[kind])
		kind++;
	return kind;
}

/* Judges all runs. Returns 0, or 1 after a message. */
static int judge_runs(struct emulated *emulated)
{
	const struct recorded *first = &emulated->recorded[first_run(emulated)];
	struct verdict_table *table = &emulated->table;
	int error = 0;

	table->events = first->plan.events;
	table->common = first->plan.common;
	table->name = calloc(table->events, sizeof(*table->name));
	if (!table->name)
		error = -ENOMEM;
	else
		memcpy(table->name, first->name, table->events * sizeof(*table->name));
	for (int kind = 0; kind < SCHEME_NONE && !error; kind++) {
		if (!emulated->open[kind])
			continue;
		error = emulated->recorded[kind].plan.events == table->events ?
				judge_run(emulated, kind) :
				-EINVAL;
	}
	if (error)
		fprintf(stderr, "phasemux: %s: %s\n", emulated->folder,
				error == -EINVAL ? "the runs count different events" :
						   strerror(-error));
	return error ? 1 : 0;
}

/* Prints both tables. Returns the exit code. */
static int show_verdict(struct emulated *emulated)
{
	const struct validate_options *options = emulated->options;
	int kind = first_run(emulated);
	struct recorded *first = &emulated->recorded[kind];
	const json_t *core = json_object_get(json_object_get(first->report, "emulated"), "core");
	struct validate_options replayed = *options;
	json_t *json, *replay = NULL;
	char name[96];
	int code;

	replayed.emulated = true;
	if (!replayed.burst_min_given)
		replayed.burst_min = "1ns"; /* the phases have no short bursts */
	snprintf(name, sizeof(name), "replay of %s", scheme_name(kind));
	if (!options->json) {
		printf("emulated (core model %s): %u runs, each with all counts of its bursts "
		       "recorded as the truth\n%u phases, %u counters in %u groups\n",
				json_string_value(core), emulated->runs, emulated->table.phases,
				first->plan.events, first->plan.groups);
		verdict_print_classes(&emulated->table);
		verdict_print(&emulated->table);
		putchar('\n');
		return validate_bursts(&replayed, &first->table, name, &first->plan, NULL);
	}
	json = verdict_json(&emulated->table);
	code = validate_bursts(&replayed, &first->table, name, &first->plan, &replay);
	json_object_set(json, "core", (json_t *)core);
	json_object_set_new(json, "replay", replay ? replay : json_null());
	verdict_write(json);
	return code;
}

static int judge(struct emulated *emulated)
{
	int code = open_runs(emulated) || judge_runs(emulated) || show_verdict(emulated);

	for (int kind = 0; kind < SCHEME_KINDS; kind++)
		if (emulated->open[kind])
			recorded_fini(&emulated->recorded[kind]);
	verdict_fini(&emulated->table);
	return code;
}

int validate_recorded(const struct validate_options *options)
{
	struct emulated emulated = { .options = options, .folder = options->file };

	return judge(&emulated);
}

int validate_emulated(const struct validate_options *options)
{
	const char *where = getenv("TMPDIR");
	struct emulated emulated = { .options = options };
	char folder[PATH_MAX];
	int code;

	snprintf(folder, sizeof(folder), "%s/phasemux-validate.XXXXXX",
			where && *where ? where : "/tmp");
	if (options->output ? mkdir(options->output, 0700) : !mkdtemp(folder)) {
		fprintf(stderr, "phasemux: %s: %s\n", options->output ? options->output : folder,
				strerror(errno));
		return 1;
	}
	emulated.folder = options->output ? options->output : folder;
	code = run_all(&emulated) || judge(&emulated);
	if (!options->output)
		child_remove(folder);
	return code;
}
