/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/trace/trace_pack.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/report/parts/document.h"
#include "agent/text/report_line.h"
#include "agent/trace/trace_form.h"

#define DIGITS      6    /* of numbers that are not whole */
#define TIME_DIGITS 1e3  /* times are shorter numbers than this, and zeros */
#define WHOLE_MOST  1e15 /* above, not every whole number is a double */

/* Places of calls, and the number of each. */
struct table {
	json_t *list;   /* array; NULL: there was no memory */
	json_t *number; /* object: by the text of a place */
};

/* Returns a copy of a value in which whole numbers are written as such. */
static json_t *plain_copy(const json_t *value)
{
	json_t *copy;
	const json_t *each;
	const char *key;
	size_t i;

	if (json_is_real(value)) {
		double number = json_real_value(value);

		return fabs(number) < WHOLE_MOST && number == floor(number) ?
				document_whole(number) :
				json_real(number);
	}
	if (json_is_array(value)) {
		copy = json_array();
		json_array_foreach (value, i, each)
			copy = document_append(copy, plain_copy(each));
		return copy;
	}
	if (!json_is_object(value))
		return value ? json_deep_copy(value) : json_null();
	copy = json_object();
	json_object_foreach ((json_t *)value, key, each)
		copy = document_set(copy, key, plain_copy(each));
	return copy;
}

static json_t *plain_member(const json_t *object, const char *key)
{
	return plain_copy(json_object_get(object, key));
}

/* ---- tokens ---- */

/* Returns a time in ns, with three digits. */
static json_int_t short_ns(double seconds)
{
	double ns = seconds * 1e9, unit = 1;

	if (!(ns > 0) || ns >= WHOLE_MOST)
		return 0;
	while (ns / unit >= TIME_DIGITS)
		unit *= 10;
	return (json_int_t)(round(ns / unit) * unit);
}

/* Returns the mean of a time, with the range of the ranks' means if these differ. */
static json_t *short_times(const json_t *token, const char *key)
{
	const json_t *times = json_object_get(token, key), *ranks = json_object_get(times, "ranks");
	double mean = report_get(times, "mean");
	json_int_t all, least, most;

	if (!isfinite(mean))
		return json_null();
	all = short_ns(mean);
	least = short_ns(json_number_value(json_array_get(ranks, 0)));
	most = short_ns(json_number_value(json_array_get(ranks, 1)));
	return least == all && most == all ? json_integer(all) :
					     json_pack("[I,I,I]", all, least, most);
}

static json_t *short_repeats(const json_t *token)
{
	const json_t *repeats = json_object_get(token, "repeats");
	const json_t *least = json_array_get(repeats, 0), *most = json_array_get(repeats, 1);

	return json_number_value(least) == json_number_value(most) ? plain_copy(most) :
								     plain_copy(repeats);
}

/* Returns the number of the place of a call, which is added if it is new. */
static json_t *place_number(struct table *table, const json_t *token)
{
	static const char *const others[] = { "phase", "repeats", "counts", "count",
		"burst_seconds", "call_seconds" };
	json_t *place = json_copy((json_t *)token), *number = NULL;
	char *text;

	for (size_t i = 0; place && i < sizeof(others) / sizeof(others[0]); i++)
		json_object_del(place, others[i]);
	text = place ? json_dumps(place, JSON_COMPACT) : NULL;
	if (text)
		number = json_incref(json_object_get(table->number, text));
	if (text && !number) {
		number = json_integer((json_int_t)json_array_size(table->list));
		table->number = document_set(table->number, text, json_incref(number));
		table->list = document_append(table->list, json_incref(place));
	}
	json_decref(place);
	free(text);
	return number;
}

/* Leaves out what is null at the end of an array. */
static json_t *shorten(json_t *array)
{
	size_t size = json_array_size(array);

	while (size && json_is_null(json_array_get(array, size - 1)))
		json_array_remove(array, --size);
	return array;
}

static json_t *short_body(struct table *table, const json_t *body);

static json_t *short_token(struct table *table, const json_t *token)
{
	const json_t *body = json_object_get(token, "body");
	json_t *what, *more;

	if (body) {
		what = short_body(table, body);
		more = json_is_true(json_object_get(token, "iteration")) ? json_integer(1) :
									   json_null();
	} else if (json_is_true(json_object_get(token, "unobserved"))) {
		what = json_null();
		more = json_null();
	} else {
		what = place_number(table, token);
		more = plain_member(token, "phase");
	}
	return shorten(json_pack("[o,o,o,o,o,o,o]", what, short_repeats(token),
			plain_member(token, "count"), short_times(token, "burst_seconds"),
			short_times(token, "call_seconds"), more, plain_member(token, "counts")));
}

static json_t *short_body(struct table *table, const json_t *body)
{
	json_t *list = json_array();
	const json_t *token;
	size_t i;

	json_array_foreach (body, i, token)
		list = document_append(list, short_token(table, token));
	return list;
}

/* Returns all structures, whose text alone has another form. */
static json_t *short_structures(struct table *table, const json_t *structures)
{
	json_t *list = json_array();
	const json_t *structure;
	size_t i;

	json_array_foreach (structures, i, structure) {
		json_t *others = json_copy((json_t *)structure), *object;

		json_object_del(others, "text");
		object = plain_copy(others);
		json_decref(others);
		list = document_append(list,
				document_set(object, "text",
						short_body(table,
								json_object_get(structure,
										"text"))));
	}
	return list;
}

/* ---- arguments ---- */

static json_t *short_stream(const json_t *stream)
{
	json_t *list = json_array();
	const json_t *item;
	size_t i;

	if (!json_is_array(stream)) {
		json_decref(list);
		return json_null();
	}
	json_array_foreach (stream, i, item) {
		const json_t *times = json_array_get(item, 0), *what = json_array_get(item, 1);

		if (json_is_array(what))
			list = document_append(list,
					json_pack("[o,o]", plain_copy(times), short_stream(what)));
		else if (json_integer_value(times) == 1)
			list = document_append(list, plain_copy(what));
		else
			list = document_append(list, plain_copy(item));
	}
	return list;
}

static json_t *short_values(const json_t *values)
{
	json_t *list = json_array();

	for (size_t i = 0; i < TRACE_VALUES; i++)
		list = document_append(list,
				i == TRACE_STREAM ? short_stream(json_object_get(values,
								    trace_values_keys[i])) :
						    plain_member(values, trace_values_keys[i]));
	return list;
}

static json_t *short_arguments(const json_t *arguments)
{
	json_t *others = json_copy((json_t *)arguments), *object, *list = json_array();
	const json_t *path;
	size_t i;

	json_object_del(others, "paths");
	object = plain_copy(others);
	json_decref(others);
	json_array_foreach (json_object_get(arguments, "paths"), i, path)
		list = document_append(list, trace_form_path(path, short_values, plain_copy));
	return document_set(object, "paths", list);
}

/* ---- the file ---- */

bool trace_pack_exists(const json_t *report)
{
	return json_is_object(json_object_get(report, "structure"));
}

json_t *trace_pack(const json_t *report)
{
	const json_t *structure = json_object_get(report, "structure");
	const json_t *arguments = json_object_get(structure, "arguments");
	struct table table = { json_array(), json_object() };
	json_t *trace = json_pack("{s:i}", TRACE_KEY, TRACE_VERSION), *structures;

	if (!trace_pack_exists(report)) {
		json_decref(trace);
		trace = NULL;
	}
	for (size_t i = 0; i < TRACE_REPORT_KEYS; i++)
		trace = document_set(trace, trace_report_keys[i],
				plain_member(report, trace_report_keys[i]));
	if (json_is_object(json_object_get(report, "recovered")))
		trace = document_set(trace, "recovered", json_true());
	structures = short_structures(&table, json_object_get(structure, "structures"));
	trace = document_set(trace, "places", table.list);
	trace = document_set(trace, "structures", structures);
	trace = document_set(trace, "left_out_ranks", plain_member(structure, "left_out_ranks"));
	if (arguments)
		trace = document_set(trace, "arguments", short_arguments(arguments));
	json_decref(table.number);
	return trace;
}

char *trace_pack_text(const json_t *report, char *why, size_t why_size)
{
	json_t *trace = trace_pack(report);
	char *text = trace ? json_dumps(trace, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) : NULL;

	if (!text)
		snprintf(why, why_size, "%s",
				trace_pack_exists(report) ? "out of memory" :
							    "the report has no structure of calls");
	json_decref(trace);
	return text;
}
