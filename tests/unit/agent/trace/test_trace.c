/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the trace of a report, and the report of the trace. */
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"
#include "agent/trace/trace_pack.h"
#include "agent/trace/trace_unpack.h"

/* Times have three digits, so that they are equal afterwards. */
static const char report_text[] =
		"{\"version\":\"0\",\"date\":null,\"command\":[\"a\"],\"ranks\":2,\"wall_seconds\":2.5,\"recovered\":{},"
		"\"structure\":{\"structures\":[{\"ranks\":2,\"first_rank\":0,\"rank_ranges\":[[0,1,2]],\"calls\":20,"
		"\"expandable_calls\":null,\"gathered\":false,\"text\":["
		"{\"call\":\"MPI_Init\",\"function\":\"main\",\"phase\":null,\"repeats\":[1,1],\"count\":2,"
		"\"burst_seconds\":{\"mean\":null,\"ranks\":[0.0,0.0]},\"call_seconds\":{\"mean\":0.25,\"ranks\":[0.25,0.25]}},"
		"{\"iteration\":true,\"body\":[{\"call\":\"MPI_Send\",\"function\":\"f\",\"path\":0,\"phase\":1,\"repeats\":[1,3],"
		"\"count\":9,\"counts\":[[1,2],[3,1]],\"burst_seconds\":{\"mean\":0.01,\"ranks\":[0.005,0.015]},"
		"\"call_seconds\":{\"mean\":0.02,\"ranks\":[0.01,0.03]}},{\"unobserved\":true,\"repeats\":[1,1],\"count\":6,"
		"\"burst_seconds\":{\"mean\":0.01,\"ranks\":[0.01,0.01]},\"call_seconds\":{\"mean\":0.01,\"ranks\":[0.01,0.01]}}],"
		"\"repeats\":[3,3],\"count\":6,\"burst_seconds\":{\"mean\":0.01,\"ranks\":[0.01,0.01]},"
		"\"call_seconds\":{\"mean\":0.01,\"ranks\":[0.01,0.01]}},"
		"{\"call\":\"MPI_Init\",\"function\":\"main\",\"phase\":2,\"repeats\":[1,1],\"count\":2,"
		"\"burst_seconds\":{\"mean\":0.01,\"ranks\":[0.01,0.01]},\"call_seconds\":{\"mean\":0.01,\"ranks\":[0.01,0.01]}}],"
		"\"variants\":[{\"ranks\":2,\"counts\":[1,3,[[1,2],[3,1]],2,1]}]}],\"left_out_ranks\":0,"
		"\"arguments\":{\"version\":1,\"paths\":[{\"call\":\"MPI_Send\",\"to\":[{\"ranks\":1,\"rank_ranges\":[[0,1,1]],"
		"\"values\":5,\"exact_values\":null,\"marks\":1,\"least\":1,\"most\":1,\"mean\":1.5,"
		"\"stream\":[[2,[[2,1],[1,\"none\"]]],[1,null]]},{\"ranks\":1,\"rank_ranges\":[[1,1,1]],\"values\":5,"
		"\"exact_values\":0,\"marks\":0,\"least\":1,\"most\":1,\"mean\":1,\"stream\":null}]}],\"left_out_ranks\":0}}}";

/* docs/trace-format.md says what each member is. */
static const char trace_text[] =
		"{\"phasemux_trace\":1,\"version\":\"0\",\"date\":null,\"command\":[\"a\"],\"ranks\":2,\"wall_seconds\":2.5,"
		"\"recovered\":true,\"places\":[{\"call\":\"MPI_Init\",\"function\":\"main\"},"
		"{\"call\":\"MPI_Send\",\"function\":\"f\",\"path\":0}],\"structures\":[{\"ranks\":2,\"first_rank\":0,"
		"\"rank_ranges\":[[0,1,2]],\"calls\":20,\"expandable_calls\":null,\"gathered\":false,"
		"\"variants\":[{\"ranks\":2,\"counts\":[1,3,[[1,2],[3,1]],2,1]}],\"text\":[[0,1,2,null,250000000],"
		"[[[1,[1,3],9,[10000000,5000000,15000000],[20000000,10000000,30000000],1,[[1,2],[3,1]]],"
		"[null,1,6,10000000,10000000]],3,6,10000000,10000000,1],[0,1,2,10000000,10000000,2]]}],\"left_out_ranks\":0,"
		"\"arguments\":{\"version\":1,\"left_out_ranks\":0,\"paths\":[{\"call\":\"MPI_Send\",\"to\":["
		"[1,[[0,1,1]],5,null,1,1,1,1.5,[[2,[[2,1],\"none\"]],null]],[1,[[1,1,1]],5,0,0,1,1,1,null]]}]}}";

static void test_both_ways(void)
{
	json_t *report = json_loads(report_text, 0, NULL), *trace, *again;
	char why[200] = "", *text = trace_pack_text(report, why, sizeof(why));

	is_str(text ? text : why, trace_text, "a report becomes a trace");
	trace = json_loads(text ? text : "{}", 0, NULL);
	ok(trace_unpack_is_trace(trace) && !trace_unpack_is_trace(report),
			"a trace is known by its key");
	again = trace_unpack(trace, why, sizeof(why));
	ok(again && json_equal(again, report), "and the trace becomes the report again");
	free(text);
	json_decref(again);
	json_decref(trace);
	json_decref(report);
}

/* Returns the ns of a mean time in a trace. */
static long long ns_of(double seconds)
{
	json_t *report = json_pack("{s:{s:[{s:[{s:s,s:{s:f}}]}]}}", "structure", "structures",
			"text", "call", "", "call_seconds", "mean", seconds);
	json_t *trace = trace_pack(report), *structure, *times;
	long long ns;

	structure = json_array_get(json_object_get(trace, "structures"), 0);
	times = json_array_get(json_array_get(json_object_get(structure, "text"), 0), 4);
	ns = json_integer_value(json_is_array(times) ? json_array_get(times, 0) : times);
	json_decref(trace);
	json_decref(report);
	return ns;
}

static void test_digits(void)
{
	is_int(ns_of(0.0012345), 1230000, "a time has three digits");
	is_int(ns_of(0.0009996), 1000000, "which are rounded");
	is_int(ns_of(12.4e-9), 12, "and is in whole ns");
	is_int(ns_of(0), 0, "none is 0");
	is_int(ns_of(1e9), 0, "and so is one that is longer than any run");
}

/* Checks that a trace in which one piece of text is another one is refused. */
static void is_refused(const char *piece, const char *other, const char *name)
{
	char text[2 * sizeof(trace_text)], why[200] = "";
	const char *at = strstr(trace_text, piece);
	json_t *trace, *report;

	snprintf(text, sizeof(text), "%.*s%s%s", at ? (int)(at - trace_text) : 0, trace_text, other,
			at ? at + strlen(piece) : "");
	trace = json_loads(text, 0, NULL);
	report = trace_unpack(trace, why, sizeof(why));
	ok(at && trace && !report && *why, "%s is refused with a reason", name);
	json_decref(report);
	json_decref(trace);
}

static void test_invalid(void)
{
	char why[200] = "";
	json_t *report = json_object();

	is_refused("_trace\":1", "_trace\":2", "another version");
	is_refused("[0,1,2,null", "[7,1,2,null", "a place that is not in the table");
	is_refused("[0,1,2,null", "[-1,1,2,null", "a negative place");
	is_refused("\"structures\":[", "\"structures\":[7,", "a structure that is a number");
	ok(!trace_pack(report) && !trace_pack_text(report, why, sizeof(why)) && *why,
			"a report without a structure has no trace");
	json_decref(report);
}

/* Loops in loops are an array in an array each. */
static void test_deep(void)
{
	char why[200] = "";
	json_t *body = json_array(), *trace;

	for (unsigned i = 0; i < 100; i++)
		body = json_pack("[[o,i]]", body, 2);
	trace = json_pack("{s:i,s:[{s:o}]}", "phasemux_trace", 1, "structures", "text", body);
	ok(trace && !trace_unpack(trace, why, sizeof(why)) && *why,
			"more loops than the agent has are refused");
	json_decref(trace);
}

int main(void)
{
	test_both_ways();
	test_digits();
	test_invalid();
	test_deep();
	return tap_done();
}
