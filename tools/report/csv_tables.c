/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/report/csv_tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/report_line.h"
#include "tools/report/run_bursts.h"

#define ITEM_MAX 400 /* bytes of the column `item`; longer texts are cut */

enum table { RUN, PHASES, COUNTERS, BREAKDOWN, METRICS, RANKS, SOURCE, BURSTS, TABLES };

static const char *const table_names[TABLES] = {
	[RUN] = "run",
	[PHASES] = "phases",
	[COUNTERS] = "counters",
	[BREAKDOWN] = "breakdown",
	[METRICS] = "metrics",
	[RANKS] = "ranks",
	[SOURCE] = "source",
	[BURSTS] = "bursts",
};

/* A value of the report. */
struct quantity {
	const char *name;
	const char *object; /* key of the object that has the value; NULL: the object of the table */
	const char *key, *ci95; /* NULL: the value has no interval */
};

static const struct quantity run_quantities[] = {
	{ "ranks", NULL, "ranks", NULL },
	{ "threads", NULL, "threads", NULL },
	{ "threads_mean", NULL, "threads_mean", NULL },
	{ "wall_seconds", NULL, "wall_seconds", NULL },
	{ "compute_seconds", NULL, "compute_seconds", NULL },
	{ "bursts", NULL, "bursts", NULL },
	{ "burst_min_seconds", NULL, "burst_min_seconds", NULL },
	{ "efficiency_parallel", "efficiency", "parallel", NULL },
	{ "efficiency_load_balance", "efficiency", "load_balance", NULL },
	{ "efficiency_communication", "efficiency", "communication", NULL },
	{ "efficiency_mpi", "efficiency", "mpi", NULL },
	{ "efficiency_threads", "efficiency", "threads", NULL },
	{ "unclassified_time_share", "unclassified", "time_share", NULL },
	{ "unclassified_bursts", "unclassified", "bursts", NULL },
	{ "short_time_share", "short", "time_share", NULL },
	{ "short_bursts", "short", "bursts", NULL },
	{ "lost_bursts", "lost", "bursts", NULL },
	{ "agent_share", "agent", "share", NULL },
	{ NULL, NULL, NULL, NULL },
};

static const struct quantity phase_quantities[] = {
	{ "time_share", NULL, "time_share", "time_share_ci95" },
	{ "bursts", NULL, "bursts", "bursts_ci95" },
	{ "read", NULL, "read", NULL },
	{ "slices", NULL, "slices", NULL },
	{ "duration_mean_seconds", "duration_seconds", "mean", "ci95" },
	{ "duration_sd_seconds", "duration_seconds", "sd", NULL },
	{ "ipc", NULL, "ipc", NULL },
	{ "cpi", NULL, "cpi", NULL },
	{ "ranks", NULL, "ranks", NULL },
	{ "slowest_rank", NULL, "slowest_rank", NULL },
	{ "rank_seconds_mean", "rank_seconds", "mean", NULL },
	{ "rank_seconds_most", "rank_seconds", "most", NULL },
	{ "load_balance", NULL, "load_balance", NULL },
	{ "instructions_balance", NULL, "instructions_balance", NULL },
	{ "ipc_balance", NULL, "ipc_balance", NULL },
	{ "imbalance_share", NULL, "imbalance_share", NULL },
	{ "parallel_efficiency", "efficiency", "parallel", NULL },
	{ "communication_efficiency", "efficiency", "communication", NULL },
	{ "call_seconds", "efficiency", "call_seconds", NULL },
	{ "bursts_per_iteration", "per_iteration", "bursts", NULL },
	{ "seconds_per_iteration", "per_iteration", "seconds", NULL },
	{ "seconds_sd_per_iteration", "per_iteration", "seconds_sd", NULL },
	{ "seconds_least_per_iteration", "per_iteration", "seconds_least", NULL },
	{ "seconds_most_per_iteration", "per_iteration", "seconds_most", NULL },
	{ "measured_per_iteration", "per_iteration", "measured", NULL },
	{ NULL, NULL, NULL, NULL },
};

static const struct quantity counter_quantities[] = {
	{ "mean", NULL, "mean", "ci95" },
	{ "sd", NULL, "sd", NULL },
	{ "observed", NULL, "observed", NULL },
	{ NULL, NULL, NULL, NULL },
};

static const struct quantity component_quantities[] = {
	{ "cpi", NULL, "cpi", "ci95" },
	{ NULL, NULL, NULL, NULL },
};

static const struct quantity rank_quantities[] = {
	{ "useful_seconds", NULL, "useful_seconds", NULL },
	{ "mpi_seconds", NULL, "mpi_seconds", NULL },
	{ NULL, NULL, NULL, NULL },
};

static const struct quantity source_quantities[] = {
	{ "share", NULL, "share", NULL },
	{ NULL, NULL, NULL, NULL },
};

/* What the first columns of a row say. phase: 0: none. rank: -1: none. */
struct subject {
	FILE *out;
	const char *run;
	enum table table;
	double phase;
	long rank;
	const char *item;
};

/* ---- rows ---- */

/* Writes a text, in quotes if it needs them (RFC 4180). Control characters are replaced, so that a row is a line. */
static void write_text(FILE *out, const char *text)
{
	bool quoted = strpbrk(text, ",\"") != NULL;

	if (quoted)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, out);
	}
	if (quoted)
		fputc('"', out);
}

/* Writes a number with the fewest digits that give it back exactly. What is not known is empty. */
static void write_number(FILE *out, double value)
{
	char text[32];

	if (!isfinite(value))
		return;
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	fputs(text, out);
}

static void write_row(const struct subject *subject, const char *quantity, double value,
		double ci95)
{
	FILE *out = subject->out;

	write_text(out, subject->run);
	fprintf(out, ",%s,", table_names[subject->table]);
	if (subject->phase >= 1)
		fprintf(out, "%.0f", subject->phase);
	fputc(',', out);
	if (subject->rank >= 0)
		fprintf(out, "%ld", subject->rank);
	fputc(',', out);
	write_text(out, subject->item ? subject->item : "");
	fputc(',', out);
	write_text(out, quantity);
	fputc(',', out);
	write_number(out, value);
	fputc(',', out);
	write_number(out, ci95);
	fputc('\n', out);
}

/* Writes the values that an object has. A key that an older version did not write has no row. */
static void write_object(const struct subject *subject, const json_t *object,
		const struct quantity *quantity)
{
	for (; quantity->name; quantity++) {
		const json_t *from = quantity->object ? json_object_get(object, quantity->object) :
							object;

		if (json_object_get(from, quantity->key))
			write_row(subject, quantity->name, report_get(from, quantity->key),
					quantity->ci95 ? report_get(from, quantity->ci95) : NAN);
	}
}

/* ---- tables ---- */

static void write_counters(struct subject *subject, const json_t *phase)
{
	json_t *counter;
	const char *name;

	json_object_foreach (json_object_get(phase, "counters"), name, counter) {
		subject->item = name;
		write_object(subject, counter, counter_quantities);
	}
}

static void write_metrics(struct subject *subject, const json_t *phase)
{
	json_t *metric;
	const char *name;

	json_object_foreach (json_object_get(phase, "metrics"), name, metric) {
		subject->item = name;
		write_row(subject, report_get_text(metric, "unit"), report_get(metric, "value"),
				report_get(metric, "ci95"));
	}
}

/* Writes the components of the CPI. A part of one is "COMPONENT/PART". */
static void write_breakdown(struct subject *subject, const json_t *phase)
{
	const json_t *component;
	const char *whole = "?";
	char item[ITEM_MAX];
	size_t i;

	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
		const char *name = report_get_text(component, "component");
		bool part = report_get(component, "level") >= 1;

		if (!part)
			whole = name;
		snprintf(item, sizeof(item), "%s%s%s", part ? whole : "", part ? "/" : "", name);
		subject->item = item;
		write_object(subject, component, component_quantities);
	}
	subject->item = NULL;
}

/* Writes how much of a phase's time is between two places: "CALL FUNCTION POSITION -> CALL FUNCTION POSITION". */
static void write_source(struct subject *subject, const json_t *phase)
{
	static const char *const keys[] = { "from_call", "from_function", "from", NULL, "to_call",
		"to_function", "to" };
	const json_t *place;
	size_t i;

	json_array_foreach (json_object_get(phase, "source"), i, place) {
		char item[ITEM_MAX] = "";
		size_t used = 0;

		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys) && used < sizeof(item); k++) {
			const char *word = keys[k] ?
					json_string_value(json_object_get(place, keys[k])) :
					"->";

			if (word && *word)
				used += (size_t)snprintf(item + used, sizeof(item) - used, "%s%s",
						used ? " " : "", word);
		}
		subject->item = item;
		write_object(subject, place, source_quantities);
	}
	subject->item = NULL;
}

static void write_phase(struct subject *subject, const json_t *phase)
{
	write_object(subject, phase, phase_quantities);
}

static void write_ranks(struct subject *subject, const json_t *report)
{
	const json_t *times = json_object_get(report, "rank_times"), *time;
	char item[32];
	size_t i;

	json_array_foreach (json_object_get(times, "each"), i, time) {
		subject->rank = (long)i;
		write_object(subject, time, rank_quantities);
	}
	subject->rank = -1;
	json_array_foreach (json_object_get(times, "deciles"), i, time) {
		snprintf(item, sizeof(item), "decile %zu", i);
		subject->item = item;
		write_object(subject, time, rank_quantities);
	}
	subject->item = NULL;
}

static void write_burst(struct subject *subject, const struct run_bursts *bursts, size_t number)
{
	const struct burst_table *table = &bursts->table;
	const struct burst *burst = &table->burst[number];
	const double *values = table_values(table, number);

	write_row(subject, "begin_ns", (double)burst->begin, NAN);
	write_row(subject, "end_ns", (double)burst->end, NAN);
	if (burst->prototype)
		write_row(subject, "prototype", burst->prototype - 1, NAN);
	for (unsigned metric = 0; metric < table->metrics; metric++)
		if (isfinite(values[metric]))
			write_row(subject, table->name[metric], values[metric], NAN);
}

static bool write_bursts(struct subject *subject, const json_t *report, const char *path, char *why,
		size_t why_size)
{
	struct run_bursts bursts = { .phase = NULL };
	bool good = run_bursts_open(&bursts, report, path, why, why_size) == 0;
	size_t number = 0;

	for (size_t i = 0; good && i < bursts.table.count; i++) {
		const struct burst *burst = &bursts.table.burst[i];
		char item[64];

		if (i && (burst[-1].task != burst->task || burst[-1].thread != burst->thread))
			number = 0;
		snprintf(item, sizeof(item), "%u.%zu", burst->thread, ++number);
		subject->phase = run_bursts_phase(&bursts, burst);
		subject->rank = burst->task;
		subject->item = item;
		write_burst(subject, &bursts, i);
	}
	run_bursts_fini(&bursts);
	return good;
}

/* ---- all tables ---- */

unsigned csv_tables_of(const char *list)
{
	unsigned tables = 0;

	for (;;) {
		size_t length = strcspn(list, ",");
		unsigned bit = 0;

		for (enum table table = 0; table < TABLES; table++)
			if (strlen(table_names[table]) == length &&
					strncmp(table_names[table], list, length) == 0)
				bit = 1u << table;
		if (!bit)
			return 0;
		tables |= bit;
		if (!list[length])
			return tables;
		list += length + 1;
	}
}

void csv_tables_header(FILE *out)
{
	fputs("run,table,phase,rank,item,quantity,value,ci95\n", out);
}

static void write_phases(struct subject *subject, unsigned tables, const json_t *report)
{
	static void (*const writers[TABLES])(struct subject *, const json_t *) = {
		[PHASES] = write_phase,
		[COUNTERS] = write_counters,
		[BREAKDOWN] = write_breakdown,
		[METRICS] = write_metrics,
		[SOURCE] = write_source,
	};
	const json_t *phase;
	size_t i;

	for (enum table table = 0; table < TABLES; table++) {
		if (!(tables & 1u << table) || !writers[table])
			continue;
		subject->table = table;
		json_array_foreach (json_object_get(report, "phases"), i, phase) {
			subject->phase = report_get(phase, "id");
			subject->item = NULL;
			writers[table](subject, phase);
		}
	}
	subject->phase = 0;
	subject->item = NULL;
}

bool csv_tables_write(FILE *out, unsigned tables, const struct csv_result *result, char *why,
		size_t why_size)
{
	struct subject subject = { .out = out, .run = result->run, .table = RUN, .rank = -1 };

	if (tables & 1u << RUN)
		write_object(&subject, result->report, run_quantities);
	write_phases(&subject, tables, result->report);
	subject.table = RANKS;
	if (tables & 1u << RANKS)
		write_ranks(&subject, result->report);
	subject.table = BURSTS;
	return !(tables & 1u << BURSTS) ||
			write_bursts(&subject, result->report, result->path, why, why_size);
}
