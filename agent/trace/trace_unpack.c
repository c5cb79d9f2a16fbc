/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/trace/trace_unpack.h"

#include <stdio.h>

#include "agent/report/parts/document.h"
#include "agent/trace/trace_form.h"

static json_t *copy(const json_t *value)
{
	return value ? json_deep_copy(value) : json_null();
}

/* ---- tokens ---- */

static double seconds(const json_t *ns)
{
	return json_number_value(ns) / 1e9;
}

/* Returns the mean of a time and the range of the ranks. */
static json_t *times_of(const json_t *ns)
{
	const json_t *mean = json_is_array(ns) ? json_array_get(ns, 0) : ns;
	const json_t *least = json_is_array(ns) ? json_array_get(ns, 1) : ns;
	const json_t *most = json_is_array(ns) ? json_array_get(ns, 2) : ns;

	return json_pack("{s:o,s:[f,f]}", "mean",
			json_is_number(mean) ? json_real(seconds(mean)) : json_null(), "ranks",
			seconds(least), seconds(most));
}

static json_t *body_of(const json_t *trace, const json_t *body, unsigned depth);

/* Returns the token with what it is: a call, a loop, or calls that were not observed. */
static json_t *kind_of(const json_t *trace, const json_t *token, unsigned depth)
{
	const json_t *what = json_array_get(token, TRACE_WHAT);
	const json_t *more = json_array_get(token, TRACE_MORE), *place;

	if (json_is_array(what))
		return json_pack("{s:b,s:o}", "iteration", json_integer_value(more) == 1, "body",
				body_of(trace, what, depth + 1));
	if (!json_is_integer(what))
		return json_pack("{s:b}", "unobserved", 1);
	place = json_array_get(json_object_get(trace, "places"), (size_t)json_integer_value(what));
	return document_set(json_is_object(place) ? json_deep_copy(place) : NULL, "phase",
			copy(more));
}

static json_t *token_of(const json_t *trace, const json_t *token, unsigned depth)
{
	const json_t *repeats = json_array_get(token, TRACE_REPEATS);
	const json_t *counts = json_array_get(token, TRACE_COUNTS);
	json_t *object = kind_of(trace, token, depth);

	object = document_set(object, "repeats",
			json_is_array(repeats) ? copy(repeats) :
						 json_pack("[o,o]", copy(repeats), copy(repeats)));
	if (json_is_array(counts))
		object = document_set(object, "counts", copy(counts));
	object = document_set(object, "count", copy(json_array_get(token, TRACE_COUNT)));
	object = document_set(object, "burst_seconds",
			times_of(json_array_get(token, TRACE_BURST)));
	return document_set(object, "call_seconds", times_of(json_array_get(token, TRACE_INSIDE)));
}

/* Returns NULL if the body is deeper than any that the agent writes, or has a place that is not in the table. */
static json_t *body_of(const json_t *trace, const json_t *body, unsigned depth)
{
	json_t *list = depth <= TRACE_DEPTH ? json_array() : NULL;
	const json_t *token;
	size_t i;

	json_array_foreach (body, i, token)
		if (list)
			list = document_append(list, token_of(trace, token, depth));
	return list;
}

static json_t *structures_of(const json_t *trace)
{
	json_t *list = json_array();
	const json_t *structure;
	size_t i;

	json_array_foreach (json_object_get(trace, "structures"), i, structure)
		list = document_append(list,
				document_set(copy(structure), "text",
						body_of(trace, json_object_get(structure, "text"),
								0)));
	return list;
}

/* ---- arguments ---- */

static json_t *stream_of(const json_t *items, unsigned depth)
{
	json_t *list = depth <= TRACE_DEPTH ? json_array() : NULL;
	const json_t *item;
	size_t i;

	json_array_foreach (items, i, item) {
		const json_t *what = json_array_get(item, 1);

		if (!list)
			break;
		if (!json_is_array(item))
			list = document_append(list, json_pack("[i,o]", 1, copy(item)));
		else
			list = document_append(list,
					json_pack("[o,o]", copy(json_array_get(item, 0)),
							json_is_array(what) ?
									stream_of(what, depth + 1) :
									copy(what)));
	}
	return list;
}

static json_t *values_of(const json_t *array)
{
	json_t *object = json_object();

	for (size_t i = 0; i < TRACE_VALUES; i++) {
		const json_t *value = json_array_get(array, i);

		object = document_set(object, trace_values_keys[i],
				i == TRACE_STREAM && json_is_array(value) ? stream_of(value, 0) :
									    copy(value));
	}
	return object;
}

static json_t *arguments_of(const json_t *arguments)
{
	json_t *list = json_array();
	const json_t *path;
	size_t i;

	json_array_foreach (json_object_get(arguments, "paths"), i, path)
		list = document_append(list, trace_form_path(path, values_of, copy));
	return document_set(copy(arguments), "paths", list);
}

/* ---- the file ---- */

bool trace_unpack_is_trace(const json_t *document)
{
	return json_object_get(document, TRACE_KEY) != NULL;
}

json_t *trace_unpack(const json_t *trace, char *why, size_t why_size)
{
	const json_t *arguments = json_object_get(trace, "arguments");
	json_t *report = json_object(), *structure;

	if (json_integer_value(json_object_get(trace, TRACE_KEY)) != TRACE_VERSION) {
		snprintf(why, why_size, "it is a trace of another version of phasemux");
		json_decref(report);
		return NULL;
	}
	for (size_t i = 0; i < TRACE_REPORT_KEYS; i++)
		report = document_set(report, trace_report_keys[i],
				copy(json_object_get(trace, trace_report_keys[i])));
	if (json_is_true(json_object_get(trace, "recovered")))
		report = document_set(report, "recovered", json_object());
	structure = json_pack("{s:o,s:o}", "structures", structures_of(trace), "left_out_ranks",
			copy(json_object_get(trace, "left_out_ranks")));
	if (json_is_object(arguments))
		structure = document_set(structure, "arguments", arguments_of(arguments));
	report = document_set(report, "structure", structure);
	if (!report)
		snprintf(why, why_size, "it is not a valid trace");
	return report;
}
