/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The form of the trace (docs/trace-format.md): what the arrays hold that stand for the objects of report.json's "structure".
 */
#ifndef PHASEMUX_AGENT_TRACE_TRACE_FORM_H
#define PHASEMUX_AGENT_TRACE_TRACE_FORM_H

#include <jansson.h>

#define TRACE_VERSION 1
#define TRACE_DEPTH   64 /* loops around a token or a value; the agent has at most 24 */

/* Key by which a file is a trace. It comes first. */
#define TRACE_KEY "phasemux_trace"

/* Members of the array of a token. Those at the end that are null are left out. */
enum trace_token {
	TRACE_WHAT, /* number of the place of a call, the body of a loop, or null for calls that were not observed */
	TRACE_REPEATS, /* a number, or [least, most] */
	TRACE_COUNT,
	TRACE_BURST, /* ns before it: null, the mean, or [mean, least, most] of the means of the ranks */
	TRACE_INSIDE, /* ns in it, alike */
	TRACE_MORE,   /* phase of the bursts before a call; of a loop 1, if it is the iteration */
	TRACE_COUNTS, /* runs of the numbers of repetitions, if they vary */
	TRACE_MEMBERS
};

/* Keys of the values of an argument, in the order of their array. */
enum trace_values {
	TRACE_STREAM = 8, /* whose items [1, value] are the value alone */
	TRACE_VALUES
};

static const char *const trace_values_keys[TRACE_VALUES] = {
	"ranks",
	"rank_ranges",
	"values",
	"exact_values",
	"marks",
	"least",
	"most",
	"mean",
	"stream",
};

/* Keys of the report that are equal in the trace. */
static const char *const trace_report_keys[] = { "version", "date", "command", "ranks",
	"wall_seconds" };

#define TRACE_REPORT_KEYS (sizeof(trace_report_keys) / sizeof(trace_report_keys[0]))

/* Returns a part of the document in its other form. Owned by the caller; NULL without memory. */
typedef json_t *trace_form(const json_t *part);

/* Returns a path of the arguments with each element of its arrays in the form `values`, and what is no array in `others`. */
json_t *trace_form_path(const json_t *path, trace_form *values, trace_form *others);

#endif
