/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/validate/recorded.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "multiplex/models/model.h"
#include "sampling/emulated/emulated_pmu.h"

#define PROTOTYPES 1024 /* more than the agent has */
#define MISSES_MAX                                                                                 \
	16 /* bursts without reads after which a thread is another one, if it has fewer with */

/* The reads of one thread of the program, in order. */
struct reads {
	uint64_t thread;
	size_t count, room;
	struct emulated_record *record;
};

/* What is needed to complete the bursts. */
struct completion {
	struct recorded *recorded;
	const struct core_spec *core;
	struct model *model;
	const struct model_event *event[PLAN_EVENTS_MAX]; /* of the plan's events */
	unsigned metric[PLAN_EVENTS_MAX];                 /* of the table, by event */
	struct reads *reads;
	size_t threads;
};

static int recorded_refuse(const char *folder, const char *what)
{
	fprintf(stderr, "phasemux: %s: %s\n", folder, what);
	return 1;
}

/* ---- the report ---- */

/* Lists the events and groups of the report, in the order in which the table of bursts has them. */
static int take_groups(struct recorded *recorded, const struct burst_table *table)
{
	const json_t *groups = json_object_get(recorded->report, "groups");
	struct plan *plan = &recorded->plan;

	plan->common = 2;
	plan->events = table->metrics < PLAN_EVENTS_MAX ? table->metrics : PLAN_EVENTS_MAX;
	for (; plan->groups < json_array_size(groups); plan->groups++) {
		const json_t *events =
				json_object_get(json_array_get(groups, plan->groups), "events");
		struct plan_group *group = &plan->group[plan->groups];

		if (plan->groups == PLAN_GROUPS_MAX ||
				json_array_size(events) > PLAN_GROUP_EVENTS_MAX)
			return 1;
		for (unsigned i = 0; i < json_array_size(events); i++) {
			const char *name = json_string_value(json_array_get(events, i));
			int e = name ? table_find(table, name) : -1;

			if (e < 0 || e >= PLAN_EVENTS_MAX)
				return 1;
			recorded->name[e] = name;
			group->event[group->count++] = (uint8_t)e;
		}
	}
	for (unsigned e = 0; e < plan->events; e++)
		if (!recorded->name[e])
			return 1;
	return plan->events > plan->common ? 0 : 1;
}

/* Sets each burst's cluster to its phase in the report. */
static void take_phases(struct recorded *recorded)
{
	const json_t *phases = json_object_get(recorded->report, "phases");
	uint32_t phase_of[PROTOTYPES] = { 0 };

	recorded->phases = (unsigned)json_array_size(phases);
	for (unsigned p = 0; p < recorded->phases; p++) {
		const json_t *prototypes = json_object_get(json_array_get(phases, p), "prototypes");

		for (unsigned i = 0; i < json_array_size(prototypes); i++) {
			json_int_t number = json_integer_value(json_array_get(prototypes, i));

			if (number >= 0 && number < PROTOTYPES)
				phase_of[number] = p + 1;
		}
	}
	for (size_t i = 0; i < recorded->table.count; i++) {
		struct burst *burst = &recorded->table.burst[i];

		burst->cluster = burst->prototype && burst->prototype <= PROTOTYPES ?
				phase_of[burst->prototype - 1] :
				0;
	}
}

/* ---- the files ---- */

/* Appends the file at `path` to `out`. Returns 0 or -errno. */
static int recorded_append(FILE *out, const char *path)
{
	FILE *file = fopen(path, "r");
	char buffer[BUFSIZ];
	size_t size;

	if (!file)
		return -errno;
	while ((size = fread(buffer, 1, sizeof(buffer), file)) > 0)
		if (fwrite(buffer, 1, size, out) != size)
			break;
	size = (size_t)(ferror(file) || ferror(out));
	fclose(file);
	return size ? -EIO : 0;
}

/* Reads the tables of all ranks as one. */
static int read_bursts(struct burst_table *table, const char *folder)
{
	char pattern[PATH_MAX + 64];
	struct parse_error why = { 0 };
	FILE *all = tmpfile();
	glob_t files = { 0 };
	int error = all ? 0 : -errno;

	snprintf(pattern, sizeof(pattern), "%s/bursts.*.csv", folder);
	if (!error && glob(pattern, 0, NULL, &files))
		error = -ENOENT;
	for (size_t i = 0; i < files.gl_pathc && !error; i++)
		error = recorded_append(all, files.gl_pathv[i]);
	globfree(&files);
	if (!error) {
		rewind(all);
		error = table_read_csv(table, all, &why);
	}
	if (!error)
		error = table_sort(table);
	if (all)
		fclose(all);
	if (error)
		fprintf(stderr, "phasemux: %s: table of bursts: %s\n", folder,
				*why.text ? why.text : strerror(-error));
	return error ? 1 : 0;
}

/* Returns the reads of the thread, which are added if there are none yet; NULL: no memory. */
static struct reads *reads_of(struct completion *completion, uint64_t thread)
{
	struct reads *more;

	for (size_t i = 0; i < completion->threads; i++)
		if (completion->reads[i].thread == thread)
			return &completion->reads[i];
	more = realloc(completion->reads, (completion->threads + 1) * sizeof(*more));
	if (!more)
		return NULL;
	completion->reads = more;
	more += completion->threads++;
	*more = (struct reads){ .thread = thread };
	return more;
}

static int add_read(struct completion *completion, const struct emulated_record *record)
{
	struct reads *reads = reads_of(completion, record->thread);

	if (!reads)
		return -ENOMEM;
	if (reads->count == reads->room) {
		size_t room = reads->room ? 2 * reads->room : 1024;
		struct emulated_record *more = realloc(reads->record, room * sizeof(*more));

		if (!more)
			return -ENOMEM;
		reads->record = more;
		reads->room = room;
	}
	reads->record[reads->count++] = *record;
	return 0;
}

static int read_records(struct completion *completion, const char *folder)
{
	char path[PATH_MAX + 64];
	struct emulated_record record;
	int error = 0;
	FILE *file;

	snprintf(path, sizeof(path), RECORDED_READS, folder);
	file = fopen(path, "r");
	if (!file)
		return recorded_refuse(path, strerror(errno));
	while (!error && fread(&record, sizeof(record), 1, file) == 1)
		error = add_read(completion, &record);
	fclose(file);
	return error ? recorded_refuse(path, strerror(-error)) : 0;
}

/* ---- the truth ---- */

/* Finds the core model of the run, and what the table's events count on it. */
static int take_core(struct completion *completion, const char *folder)
{
	const struct recorded *recorded = completion->recorded;
	const json_t *emulated = json_object_get(recorded->report, "emulated");
	const char *name = json_string_value(json_object_get(emulated, "core"));
	int core = name ? core_spec_find(name) : -1;

	if (core < 0)
		return recorded_refuse(folder, "the run was not emulated");
	completion->core = core_spec_of((unsigned)core);
	completion->model = model_load("emulated", NULL, 0);
	for (unsigned e = 0; completion->model && e < recorded->plan.events; e++) {
		for (unsigned i = 0; i < model_events(completion->model); i++)
			if (strcmp(model_event(completion->model, i)->name, recorded->name[e]) == 0)
				completion->event[e] = model_event(completion->model, i);
		if (!completion->event[e])
			return recorded_refuse(folder,
					"events that are not those of the core model");
	}
	return completion->model ? 0 : recorded_refuse(folder, strerror(ENOMEM));
}

/* Returns what event e counted between two reads. */
static double between(const struct completion *completion, unsigned e,
		const struct emulated_record *from)
{
	const struct model_event *event = completion->event[e];

	return (double)(emulated_total(completion->core, event->type, event->config,
					from[1].count) -
			emulated_total(completion->core, event->type, event->config,
					from[0].count));
}

/* Returns whether the burst, whose group's events are known, may lie between two reads. */
static bool lies_between(const struct completion *completion, const double *values,
		const struct emulated_record *from)
{
	for (unsigned e = 0; e < completion->recorded->plan.events; e++)
		if (!isnan(values[e]) && values[e] != between(completion, e, from))
			return false;
	return true;
}

/*
 * Finds the reads around each burst of a thread, rows first .. last - 1 of the table. found: for each of these
 * rows, the number of the first of both reads, or SIZE_MAX. Returns how many were found.
 */
static size_t find_reads(const struct completion *completion, const struct reads *reads,
		size_t first, size_t last, size_t *found)
{
	size_t from = 0, count = 0, misses = 0;

	for (size_t row = first; row < last && (misses < MISSES_MAX || misses < count); row++) {
		const double *values = table_values(&completion->recorded->table, row);
		size_t at = from;

		while (at + 1 < reads->count &&
				!lies_between(completion, values, &reads->record[at]))
			at++;
		found[row - first] = at + 1 < reads->count ? at : SIZE_MAX;
		if (at + 1 >= reads->count) {
			misses++;
			continue;
		}
		from = at + 1;
		count++;
	}
	return count;
}

/* Adds the burst to the means of its phase, and completes its events. */
static void complete(const struct completion *completion, size_t row,
		const struct emulated_record *from)
{
	struct recorded *recorded = completion->recorded;
	double *values = table_values(&recorded->table, row);
	uint32_t phase = recorded->table.burst[row].cluster;

	for (unsigned e = 0; e < recorded->plan.events; e++) {
		double truth = between(completion, e, from);

		if (phase) {
			struct recorded_means *means =
					&recorded->means[(phase - 1) * recorded->plan.events + e];

			means->truth += truth;
			means->plain += isnan(values[e]) ? 0 : truth;
			means->observed += !isnan(values[e]);
		}
		values[e] = truth;
	}
}

/* Completes the rows first .. last - 1, which are of one thread, from the reads that fit best. */
static int complete_thread(struct completion *completion, size_t first, size_t last)
{
	size_t *found = malloc(2 * (last - first) * sizeof(*found)), *best;
	const struct reads *of = NULL;
	size_t most = 0;

	if (!found)
		return 1;
	best = found + (last - first);
	for (size_t t = 0; t < completion->threads && most < last - first; t++) {
		size_t count;

		memset(found, 0xff, (last - first) * sizeof(*found));
		count = find_reads(completion, &completion->reads[t], first, last, found);
		if (count <= most)
			continue;
		most = count;
		of = &completion->reads[t];
		memcpy(best, found, (last - first) * sizeof(*best));
	}
	for (size_t row = first; row < last; row++) {
		if (of && best[row - first] != SIZE_MAX) {
			complete(completion, row, &of->record[best[row - first]]);
			continue;
		}
		/* without a task it is dropped */
		completion->recorded->table.burst[row].task = UINT32_MAX;
		completion->recorded->lost++;
	}
	free(found);
	return 0;
}

/* Removes the bursts that were not completed. */
static void drop_lost(struct burst_table *table)
{
	size_t kept = 0;

	for (size_t i = 0; i < table->count; i++) {
		if (table->burst[i].task == UINT32_MAX)
			continue;
		table->burst[kept] = table->burst[i];
		memmove(table_values(table, kept), table_values(table, i),
				table->stride * sizeof(*table->value));
		kept++;
	}
	table->count = kept;
}

static void divide_means(struct recorded *recorded)
{
	const struct plan *plan = &recorded->plan;
	size_t *bursts = calloc(recorded->phases + 1, sizeof(*bursts));

	for (size_t i = 0; bursts && i < recorded->table.count; i++)
		bursts[recorded->table.burst[i].cluster]++;
	for (size_t i = 0; bursts && i < (size_t)recorded->phases * plan->events; i++) {
		struct recorded_means *means = &recorded->means[i];
		size_t phase = i / plan->events + 1;

		means->truth /= (double)bursts[phase];
		means->plain /= (double)means->observed;
	}
	free(bursts);
}

/* Completes all bursts of the table. */
static int complete_all(struct completion *completion, const char *folder)
{
	struct recorded *recorded = completion->recorded;
	const struct burst_table *table = &recorded->table;

	recorded->means = calloc((size_t)recorded->phases * recorded->plan.events + 1,
			sizeof(*recorded->means));
	if (!recorded->means)
		return recorded_refuse(folder, strerror(ENOMEM));
	for (size_t first = 0, last; first < table->count; first = last) {
		for (last = first; last < table->count &&
				table->burst[last].task == table->burst[first].task &&
				table->burst[last].thread == table->burst[first].thread;)
			last++;
		if (complete_thread(completion, first, last))
			return recorded_refuse(folder, strerror(ENOMEM));
	}
	drop_lost(&recorded->table);
	divide_means(recorded);
	return 0;
}

int recorded_open(struct recorded *recorded, json_t *report, const char *folder)
{
	struct completion completion = { .recorded = recorded };
	int code;

	*recorded = (struct recorded){ .report = report };
	code = read_bursts(&recorded->table, folder);
	if (!code && take_groups(recorded, &recorded->table))
		code = recorded_refuse(folder,
				"the groups of the report are not those of the table of bursts");
	if (!code)
		code = take_core(&completion, folder) || read_records(&completion, folder);
	if (!code) {
		take_phases(recorded);
		code = complete_all(&completion, folder);
	}
	model_free(completion.model);
	for (size_t i = 0; i < completion.threads; i++)
		free(completion.reads[i].record);
	free(completion.reads);
	return code;
}

void recorded_fini(struct recorded *recorded)
{
	json_decref(recorded->report);
	free(recorded->means);
	table_fini(&recorded->table);
}
