/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/results/structure_arguments.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"
#include "tools/results/structure_calls.h"

#define DEPTH_MAX 16 /* loops around a value; the agent has at most 12 */

enum kind {
	PEER, /* relative to the own rank */
	ROOT,
	BYTES,
	TAG,
	COMMUNICATOR,
	NUMBER,
	REQUESTS,
	BACK, /* of the request that a call waits for, or of the oldest of several */
	STEP,
	WHICH, /* requests, as bits */
};

/* The arguments of a call. */
static const struct field {
	const char *key, *words;
	enum kind kind;
} fields[] = {
	{ "to", "to ", PEER },
	{ "from", "from ", PEER },
	{ "root", "root ", ROOT },
	{ "bytes", "", BYTES },
	{ "tag", "tag ", TAG },
	{ "from_bytes", "", BYTES },
	{ "from_tag", "tag ", TAG },
	{ "communicator", "communicator ", COMMUNICATOR },
	{ "request", "request ", NUMBER },
	{ "requests", "", REQUESTS },
	{ "back", "request ", BACK },
	{ "step", "", STEP },
	{ "which", "", WHICH },
};

#define FIELDS         (sizeof(fields) / sizeof(fields[0]))
#define FIELD_OF_COMM  7
#define FIELD_OF_BACK  10
#define FIELD_OF_WHICH 12

/* The order in which they are shown. If a call sends and receives, "from" is shown with its own size and tag. */
static const unsigned order_one_way[FIELDS] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
static const unsigned order_both_ways[FIELDS] = { 0, 3, 4, 1, 5, 6, 2, 7, 8, 9, 10, 11, 12 };

static const unsigned *order_of(const json_t *path)
{
	return json_object_get(path, "to") ? order_both_ways : order_one_way;
}

const char *structure_arguments_key(unsigned argument)
{
	return fields[argument].key;
}

static const json_t *arguments_of(const json_t *report)
{
	return json_object_get(json_object_get(report, "structure"), "arguments");
}

bool structure_arguments_are_kept(const json_t *report)
{
	return json_is_object(arguments_of(report));
}

/* Returns the words before a value of a path. */
static const char *words_before(const struct field *field, const json_t *path)
{
	return field->kind == BACK && json_object_get(path, "requests") ? "from " : field->words;
}

static const char *words_behind(const struct field *field)
{
	switch (field->kind) {
	case BYTES:
		return " bytes";
	case REQUESTS:
		return " requests";
	case BACK:
		return " back";
	case STEP:
		return " apart";
	default:
		return "";
	}
}

/* Returns the path of a token, or NULL if its arguments are not kept. number: of the path. */
static const json_t *path_of(const json_t *report, const json_t *token, size_t *number)
{
	const json_t *path = json_object_get(token, "path");

	if (!json_is_integer(path))
		return NULL;
	*number = (size_t)json_integer_value(path);
	return json_array_get(json_object_get(arguments_of(report), "paths"), *number);
}

/* ---- the values of one argument, in order ---- */

struct level {
	const json_t *items;
	size_t next;
	uint64_t rounds; /* that are left after this one */
	bool gave; /* it has a value; a loop without any, in a file of unknown origin, would never end */
};

struct values {
	const json_t *value; /* that comes `left` times yet */
	uint64_t left;
	unsigned depth;
	struct level level[DEPTH_MAX];
};

static void start_values(struct values *values, const json_t *items)
{
	values->left = 0;
	values->depth = json_array_size(items) > 0;
	values->level[0] = (struct level){ items, 0, 0, false };
}

/* Goes to the next round of the innermost loop, or leaves it. */
static void end_round(struct values *values)
{
	struct level *level = &values->level[values->depth - 1];

	level->next = 0;
	if (level->rounds && level->gave) {
		level->rounds--;
		return;
	}
	values->depth--;
	if (values->depth)
		values->level[values->depth - 1].gave |= level->gave;
}

/* Returns the next value, or NULL if it is not known. */
static const json_t *next_value(struct values *values)
{
	while (!values->left && values->depth) {
		struct level *level = &values->level[values->depth - 1];
		const json_t *item = json_array_get(level->items, level->next++), *what;
		json_int_t count = json_integer_value(json_array_get(item, 0));

		if (!item) {
			end_round(values);
			continue;
		}
		what = json_array_get(item, 1);
		if (count < 1 || !what || (json_is_array(what) && values->depth == DEPTH_MAX)) {
			values->depth = 0;
		} else if (!json_is_array(what)) {
			values->value = what;
			values->left = (uint64_t)count;
			level->gave = true;
		} else if (json_array_size(what)) {
			values->level[values->depth++] =
					(struct level){ what, 0, (uint64_t)count - 1, false };
		}
	}
	if (!values->left)
		return NULL;
	values->left--;
	return values->value;
}

/* ---- the calls of one path ---- */

struct path {
	const json_t *object;
	uint64_t values; /* that the rank has of each argument */
	uint64_t calls;  /* in the list of the rank's calls */
	uint64_t before,
			behind; /* calls before the first, and before the last, that are not known */
	uint64_t at, taken;     /* calls, and values, that were taken */
	struct values field[FIELDS];
};

struct structure_arguments {
	const json_t *report;
	long rank;
	bool hides;    /* some calls of the list are not known */
	bool complete; /* the list goes on to the last call */
	size_t paths;
	struct path *path;
};

static const json_t *variant_of(const json_t *list, long rank)
{
	const json_t *variant;
	size_t i;

	json_array_foreach (list, i, variant)
		if (structure_in_ranges(variant, rank))
			return variant;
	return NULL;
}

static void find_values(struct path *path, long rank)
{
	for (size_t i = 0; i < FIELDS; i++) {
		const json_t *variant =
				variant_of(json_object_get(path->object, fields[i].key), rank);

		start_values(&path->field[i], json_object_get(variant, "stream"));
		if (variant)
			path->values = (uint64_t)(report_get(variant, "values") /
							report_get(variant, "ranks") +
					0.5);
	}
}

/* Counts the calls of each path, and those before and behind calls that are not known. */
static void count_calls(struct structure_arguments *arguments, struct structure_calls *calls)
{
	struct structure_call call;
	enum structure_step step;

	while ((step = structure_calls_next(calls, &call)) <= STRUCTURE_HIDDEN) {
		size_t number;

		if (step == STRUCTURE_CALL) {
			if (path_of(arguments->report, call.token, &number))
				arguments->path[number].calls++;
			continue;
		}
		for (size_t i = 0; i < arguments->paths; i++) {
			struct path *path = &arguments->path[i];

			if (!arguments->hides)
				path->before = path->calls;
			path->behind = path->calls;
		}
		arguments->hides = true;
	}
	arguments->complete = step == STRUCTURE_END;
}

struct structure_arguments *structure_arguments_new(const json_t *report, long rank)
{
	const json_t *paths = json_object_get(arguments_of(report), "paths");
	struct structure_arguments *arguments = calloc(1, sizeof(*arguments));
	struct structure_calls *calls;
	char why[256];

	if (!arguments)
		return NULL;
	arguments->report = report;
	arguments->rank = rank;
	arguments->paths = json_array_size(paths);
	arguments->path = calloc(arguments->paths + 1, sizeof(*arguments->path));
	calls = structure_calls_new(report, rank, why, sizeof(why));
	if (!arguments->path || !calls) {
		structure_calls_free(calls);
		structure_arguments_free(arguments);
		return NULL;
	}
	for (size_t i = 0; i < arguments->paths; i++) {
		arguments->path[i].object = json_array_get(paths, i);
		find_values(&arguments->path[i], rank);
	}
	count_calls(arguments, calls);
	structure_calls_free(calls);
	return arguments;
}

void structure_arguments_free(struct structure_arguments *arguments)
{
	if (arguments)
		free(arguments->path);
	free(arguments);
}

/*
 * Returns the number of the value that belongs to the next call of a path, or UINT64_MAX. Calls that the agent has not
 * observed have no values. But if the list does not have all calls that were observed, then it is not known how many of
 * the path are missing. So values belong to calls before the first gap, or from the end, to those behind the last gap.
 */
static uint64_t number_of_value(const struct structure_arguments *arguments,
		const struct path *path)
{
	if (!arguments->hides || path->calls == path->values || path->at < path->before)
		return path->at;
	if (arguments->complete && path->at >= path->behind && path->values >= path->calls)
		return path->values - (path->calls - path->at);
	return UINT64_MAX;
}

/* Returns whether a value goes without saying: MPI_COMM_WORLD, or what there is to say of no request, or of one after another. */
static bool is_plain(const struct field *field, const json_t *path, const json_t *value)
{
	switch (field->kind) {
	case COMMUNICATOR:
		return json_is_integer(value) && !json_integer_value(value);
	case BACK:
		return json_is_string(value) && json_object_get(path, "requests");
	case STEP:
		return json_integer_value(value) == 1;
	case WHICH:
		return true;
	default:
		return false;
	}
}

/* Prints how far back each of several requests is. back: that of the oldest one. */
static void print_which(FILE *out, json_int_t back, json_int_t which)
{
	for (json_int_t i = 0; i < back && which >> i > 0; i++)
		if (which >> i & 1)
			fprintf(out, i ? ", %lld" : "%lld", (long long)(back - i));
	fputs(" back", out);
}

static void print_value(FILE *out, const struct field *field, const json_t *path,
		const json_t *value, long rank, bool is_world)
{
	json_int_t number = json_integer_value(value);

	if (field->kind == BACK && json_is_string(value)) {
		fputs("no request", out);
		return;
	}
	fputs(words_before(field, path), out);
	if (json_is_string(value))
		fputs(json_string_value(value), out);
	else if (!json_is_integer(value))
		fputs("?", out);
	else if (field->kind == PEER && is_world)
		fprintf(out, "%lld", (long long)(rank + number));
	else if (field->kind == PEER)
		fprintf(out, "rank%+lld", (long long)number);
	else
		fprintf(out, "%lld", (long long)number);
	fputs(words_behind(field), out);
}

void structure_arguments_next(struct structure_arguments *arguments, const json_t *token, FILE *out)
{
	const json_t *value[FIELDS] = { NULL };
	const char *separator = " ";
	struct path *path;
	bool is_world, is_listed;
	uint64_t number;
	size_t at;

	if (!path_of(arguments->report, token, &at))
		return;
	path = &arguments->path[at];
	number = number_of_value(arguments, path);
	path->at++;
	if (number == UINT64_MAX)
		return;
	for (; path->taken <= number; path->taken++)
		for (size_t i = 0; i < FIELDS; i++)
			value[i] = next_value(&path->field[i]);
	is_world = json_is_integer(value[FIELD_OF_COMM]) &&
			!json_integer_value(value[FIELD_OF_COMM]);
	is_listed = json_integer_value(value[FIELD_OF_WHICH]) > 0 &&
			json_is_integer(value[FIELD_OF_BACK]);
	for (size_t i = 0; i < FIELDS; i++) {
		size_t field = order_of(path->object)[i];

		if (!json_object_get(path->object, fields[field].key) ||
				is_plain(&fields[field], path->object, value[field]))
			continue;
		if (fields[field].kind == STEP && is_listed)
			continue;
		fputs(separator, out);
		if (field == FIELD_OF_BACK && is_listed)
			print_which(out, json_integer_value(value[field]),
					json_integer_value(value[FIELD_OF_WHICH]));
		else
			print_value(out, &fields[field], path->object, value[field],
					arguments->rank, is_world);
		separator = ", ";
	}
}

/* ---- what the calls of a path have in common ---- */

struct summary {
	double least, most, marks, values;
	bool has_any, has_none; /* any source or tag, no process */
};

/* Notes the marks in a sequence. */
static void note_marks(const json_t *items, unsigned depth, struct summary *all)
{
	const json_t *item;
	size_t i;

	json_array_foreach (items, i, item) {
		const json_t *what = json_array_get(item, 1);

		if (json_is_array(what) && depth < DEPTH_MAX)
			note_marks(what, depth + 1, all);
		else if (json_is_string(what))
			*(strcmp(json_string_value(what), "any") ? &all->has_none : &all->has_any) =
					true;
	}
}

static struct summary summary_of(const json_t *list, long rank)
{
	struct summary all = { .least = INFINITY, .most = -INFINITY };
	const json_t *variant;
	size_t i;

	json_array_foreach (list, i, variant) {
		if (rank >= 0 && !structure_in_ranges(variant, rank))
			continue;
		all.values += report_get(variant, "values");
		all.marks += report_get(variant, "marks");
		all.least = fmin(all.least, report_get(variant, "least"));
		all.most = fmax(all.most, report_get(variant, "most"));
		note_marks(json_object_get(variant, "stream"), 0, &all);
	}
	return all;
}

static void print_number(FILE *out, enum kind kind, double number)
{
	if (kind == BYTES && number < 1024)
		fprintf(out, "%.0f bytes", number);
	else if (kind == BYTES)
		fputs(format_bytes(number).text, out);
	else
		fprintf(out, kind == PEER ? "rank%+.0f" : "%.0f", number);
}

/* Prints the range of an argument, and whether it has values that are no numbers. */
static void print_summary(FILE *out, const struct field *field, const json_t *path,
		const struct summary *all)
{
	bool has_numbers = all->least <= all->most;

	if (field->kind == BACK && all->has_none && !has_numbers) {
		fputs("no request", out);
		return;
	}
	fputs(words_before(field, path), out);
	if (has_numbers)
		print_number(out, field->kind, all->least);
	if (has_numbers && all->least != all->most) {
		fputs("..", out);
		print_number(out, field->kind, all->most);
	}
	if (has_numbers && field->kind != BYTES)
		fputs(words_behind(field), out);
	if (all->has_any)
		fprintf(out, "%sany", has_numbers ? " or " : "");
	if (all->has_none)
		fprintf(out, "%snone", has_numbers || all->has_any ? " or " : "");
	if (!has_numbers && !all->has_any && !all->has_none)
		fprintf(out, "?%s", words_behind(field));
}

/* Returns whether a range goes without saying, as is_plain() does for a value. */
static bool is_plain_range(const struct field *field, const json_t *path, const struct summary *all)
{
	bool has_numbers = all->least <= all->most;

	switch (field->kind) {
	case COMMUNICATOR:
		return all->least == 0 && all->most == 0;
	case BACK:
		return !has_numbers && all->has_none && json_object_get(path, "requests");
	case STEP:
		/* at unequal distances, there is nothing that they have in common */
		return !has_numbers || (all->least == 1 && all->most == 1 && !(all->marks > 0));
	case WHICH:
		return true;
	default:
		return false;
	}
}

void structure_arguments_summary(const json_t *report, const json_t *token, long rank, FILE *out)
{
	const char *separator = " ";
	size_t number;
	const json_t *path = path_of(report, token, &number);

	for (size_t i = 0; path && i < FIELDS; i++) {
		size_t field = order_of(path)[i];
		const json_t *list = json_object_get(path, fields[field].key);
		const struct summary all = summary_of(list, rank);

		if (!(all.values > 0) || is_plain_range(&fields[field], path, &all))
			continue;
		fputs(separator, out);
		print_summary(out, &fields[field], path, &all);
		separator = ", ";
	}
}

double structure_arguments_cut(const json_t *report)
{
	const json_t *path, *variant;
	double cut = 0;
	size_t i, j;

	json_array_foreach (json_object_get(arguments_of(report), "paths"), i, path)
		for (size_t field = 0; field < FIELDS; field++)
			json_array_foreach (json_object_get(path, fields[field].key), j, variant)
				cut += !json_is_null(json_object_get(variant, "exact_values"));
	return cut;
}
