/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank has its calls and bursts at the times at which they were recorded. The records of all ranks are written to
 * memory first, and sorted by time.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/paraver/prv_file.h"
#include "tools/region/region_write.h"

#define TYPE_FUNCTION_2 70000002u
#define TYPE_LINE_2     80000002u
#define TYPE_COUNTER    42000100u /* of event 0 */
#define LINE_MAX        512

/* A record, which begins at `at`. */
struct line {
	uint64_t at;
	size_t number; /* by rank, and in a rank in the order of its records */
	char *text;
};

/* Which values events of a call have. */
struct values {
	enum prv_class kind;
	size_t call, function[REGION_LEVELS], line[REGION_LEVELS]; /* 0: none */
	bool known;
};

struct prv {
	const struct region_trace *trace;
	struct prv_names call[PRV_CLASSES], function, position;
	struct values *values; /* of each site of the rank under way */
	struct line *line;
	size_t lines, room;
	uint64_t end;
	unsigned phases; /* the highest number */
	bool failed;
};

/* Adds a record of a rank at a time. */
__attribute__((format(printf, 4, 5))) static void add_line(struct prv *prv, uint64_t at,
		unsigned rank, const char *format, ...)
{
	char rest[LINE_MAX], text[LINE_MAX + 64];
	va_list arguments;

	if (prv->lines == prv->room) {
		size_t room = 2 * prv->room + 1024;
		struct line *more = realloc(prv->line, room * sizeof(*more));

		if (!more) {
			prv->failed = true;
			return;
		}
		prv->line = more;
		prv->room = room;
	}
	va_start(arguments, format);
	vsnprintf(rest, sizeof(rest), format, arguments);
	va_end(arguments);
	snprintf(text, sizeof(text), "%c:%u:1:%u:1:%llu%s", *rest, rank + 1, rank + 1,
			(unsigned long long)at, rest + 1);
	prv->line[prv->lines] = (struct line){ at, prv->lines, strdup(text) };
	prv->failed = prv->failed || !prv->line[prv->lines].text;
	prv->lines += prv->line[prv->lines].text != NULL;
	prv->end = at > prv->end ? at : prv->end;
}

static void add_state(struct prv *prv, unsigned rank, uint64_t from, uint64_t to, unsigned state)
{
	if (from >= to)
		return;
	add_line(prv, from, rank, "1:%llu:%u", (unsigned long long)to, state);
	prv->end = to > prv->end ? to : prv->end;
}

/* Returns the values of a site, which are found once. */
static const struct values *values_of(struct prv *prv, size_t i, unsigned site)
{
	struct values *values = &prv->values[site];
	const struct region_label *label;

	if (values->known)
		return values;
	label = region_names_label(prv->trace->names[i], site);
	values->known = true;
	values->kind = prv_class_of(label->call);
	values->call = prv_names_number(&prv->call[values->kind], label->call);
	for (unsigned level = 0; level < REGION_LEVELS; level++) {
		values->function[level] =
				prv_names_number(&prv->function, label->caller[level].function);
		values->line[level] =
				prv_names_number(&prv->position, label->caller[level].position);
	}
	return values;
}

/* Writes the counters of a burst to the `used` bytes of a text of LINE_MAX / 2 bytes. NULL: they were not read. */
static void print_counts(char *rest, int used, const struct region_rank *rank,
		const struct region_counts *counts)
{
	const struct region_group *group = counts ? &rank->group[counts->group] : NULL;

	for (unsigned i = 0; group && i < group->count; i++)
		used += snprintf(rest + used, LINE_MAX / 2 - (size_t)used, ":%u:%llu",
				TYPE_COUNTER + group->event[i],
				(unsigned long long)(counts->value[i] & INT64_MAX));
}

/* Adds the event with which a call begins or ends. */
static void add_event(struct prv *prv, unsigned rank, uint64_t at, const struct values *values,
		bool begins, const char *before)
{
	char rest[LINE_MAX];
	int used = snprintf(rest, sizeof(rest), "%s:%u:%zu", before, prv_classes[values->kind].type,
			begins ? values->call : (size_t)0);

	for (unsigned level = 0; level < REGION_LEVELS; level++) {
		if (values->function[level])
			used += snprintf(rest + used, sizeof(rest) - (size_t)used, ":%u:%zu",
					PRV_TYPE_FUNCTION + level,
					begins ? values->function[level] : (size_t)0);
		if (values->line[level])
			used += snprintf(rest + used, sizeof(rest) - (size_t)used, ":%u:%zu",
					PRV_TYPE_LINE + level,
					begins ? values->line[level] : (size_t)0);
	}
	add_line(prv, at, rank, "2%s", rest);
}

/* Adds a call, and the burst before it. counts: of the burst; NULL: they were not read. */
static void add_call(struct prv *prv, const struct region_rank *rank, size_t i, size_t c,
		const struct region_counts *counts)
{
	const struct region_call *call = &rank->call[c];
	uint64_t begin = (uint64_t)llround(region_ns(prv->trace->run, rank, call->begin));
	uint64_t entered = (uint64_t)llround(region_ns(prv->trace->run, rank, call->entered));
	uint64_t left = (uint64_t)llround(region_ns(prv->trace->run, rank, call->left));
	unsigned phase = region_phase(rank, call, prv->trace->report);
	unsigned number = (unsigned)rank->facts.rank;
	const struct values *values = values_of(prv, i, call->site);
	char before[LINE_MAX / 2] = "";
	int used = 0;

	if (c)
		add_state(prv, number,
				(uint64_t)llround(region_ns(prv->trace->run, rank, call[-1].left)),
				begin, PRV_STATE_UNKNOWN);
	add_state(prv, number, begin, entered, PRV_STATE_RUNNING);
	if (phase && begin < entered) {
		add_line(prv, begin, number, "2:%u:%u", PRV_TYPE_PHASE, PRV_PHASE_BASE + phase);
		used = snprintf(before, sizeof(before), ":%u:0", PRV_TYPE_PHASE);
	}
	print_counts(before, used, rank, counts);
	prv->phases = phase > prv->phases ? phase : prv->phases;
	add_event(prv, number, entered, values, true, before);
	add_state(prv, number, entered, left, PRV_STATE_CALL);
	add_event(prv, number, left, values, false, "");
}

static void add_rank(struct prv *prv, size_t i)
{
	const struct region_rank *rank = prv->trace->run->rank[i];
	size_t next = 0;

	memset(prv->values, 0, SITES_MAX * sizeof(*prv->values));
	for (size_t c = 0; c < rank->calls && !prv->failed; c++)
		add_call(prv, rank, i, c, region_counts_of(rank, c, &next));
}

static int by_time(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static bool write_prv(const struct prv *prv, unsigned ranks, char *why, size_t why_size)
{
	FILE *out = prv_create(prv->trace->path, ".prv", why, why_size);
	const char *date = json_string_value(json_object_get(prv->trace->report, "date"));

	if (!out)
		return false;
	prv_write_head(out, date ? date : "", prv->end, ranks);
	for (size_t i = 0; i < prv->lines; i++)
		fprintf(out, "%s\n", prv->line[i].text);
	return prv_close(out, ".prv", why, why_size);
}

static bool write_pcf(const struct prv *prv, char *why, size_t why_size)
{
	FILE *out = prv_create(prv->trace->path, ".pcf", why, why_size);
	const struct region_rank *first = prv->trace->run->rank[0];

	if (!out)
		return false;
	prv_write_states(out, "Polling, or not observed");
	for (unsigned kind = 0; kind < PRV_CLASSES; kind++)
		prv_names_write(out, prv_classes[kind].type, prv_classes[kind].name,
				&prv->call[kind], "Outside MPI");
	prv_names_write(out, PRV_TYPE_FUNCTION, "Caller at level 1", &prv->function, "End");
	prv_names_write(out, TYPE_FUNCTION_2, "Caller at level 2", &prv->function, "End");
	prv_names_write(out, PRV_TYPE_LINE, "Caller line at level 1", &prv->position, "End");
	prv_names_write(out, TYPE_LINE_2, "Caller line at level 2", &prv->position, "End");
	prv_write_phases(out, prv->phases);
	fputs("\nEVENT_TYPE\n", out);
	for (unsigned e = 0; e < first->events; e++)
		fprintf(out, "7    %u    %s\n", TYPE_COUNTER + e, first->event[e]);
	return prv_close(out, ".pcf", why, why_size);
}

static bool write_row(const struct prv *prv, unsigned ranks, char *why, size_t why_size)
{
	FILE *out = prv_create(prv->trace->path, ".row", why, why_size);
	const struct region_run *run = prv->trace->run;
	size_t next = 0;

	if (!out)
		return false;
	prv_write_places(out, ranks);
	for (unsigned i = 0; i < ranks; i++) {
		bool known = next < run->ranks && run->rank[next]->facts.rank == (int)i;

		fprintf(out, "THREAD 1.%u.1%s\n", i + 1, known ? "" : " (not recorded)");
		next += known;
	}
	return prv_close(out, ".row", why, why_size);
}

static void prv_fini(struct prv *prv)
{
	for (unsigned kind = 0; kind < PRV_CLASSES; kind++)
		prv_names_fini(&prv->call[kind]);
	prv_names_fini(&prv->function);
	prv_names_fini(&prv->position);
	for (size_t i = 0; i < prv->lines; i++)
		free(prv->line[i].text);
	free(prv->line);
	free(prv->values);
}

bool region_prv(const struct region_trace *trace, char *why, size_t why_size)
{
	struct prv prv = { .trace = trace, .values = calloc(SITES_MAX, sizeof(*prv.values)) };
	unsigned ranks = (unsigned)trace->run->rank[0]->facts.size;
	bool good;

	prv.failed = !prv.values;
	for (size_t i = 0; i < trace->run->ranks && !prv.failed; i++)
		add_rank(&prv, i);
	if (prv.failed)
		snprintf(why, why_size, "no memory");
	else if (prv.lines)
		qsort(prv.line, prv.lines, sizeof(*prv.line), by_time);
	good = !prv.failed && write_prv(&prv, ranks, why, why_size) &&
			write_pcf(&prv, why, why_size) && write_row(&prv, ranks, why, why_size);
	prv_fini(&prv);
	return good;
}
