/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/report/perfetto.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "agent/text/report_line.h"
#include "tools/report/run_bursts.h"
#include "tools/report/track_events.h"
#include "tools/results/structure_calls.h"

#define NS            1e9
#define CATEGORY_CALL "call"
#define CATEGORY_WORK "computation"

/* What is written, and the ids of processes and threads, which Perfetto has to tell apart. */
struct trace {
	struct track_events *events;
	unsigned ranks, tids; /* number of ranks; last id of a thread other than the first of its rank */
};

static void set_phase_name(char *name, size_t size, double phase, const char *other)
{
	if (phase >= 1)
		snprintf(name, size, "phase %.0f", phase);
	else
		snprintf(name, size, "%s", other);
}

/* Adds the process of a rank. */
static void add_rank(const struct trace *trace, unsigned rank, const char *note)
{
	char name[64];

	snprintf(name, sizeof(name), "rank %u%s", rank, note);
	track_events_process(trace->events, rank + 1, name);
}

/* Adds the track of a thread. The first thread of a process has the id of the process. */
static uint64_t add_thread(struct trace *trace, unsigned rank, unsigned thread)
{
	char name[64];
	unsigned tid = thread ? ++trace->tids : rank + 1;

	snprintf(name, sizeof(name), "thread %u", thread);
	return track_events_thread(trace->events, rank + 1, tid, name);
}

/* ---- from the table of bursts ---- */

static void add_burst(const struct trace *trace, uint64_t track, const struct run_bursts *bursts,
		size_t number, uint64_t from)
{
	const struct burst_table *table = &bursts->table;
	const struct burst *burst = &table->burst[number];
	const double *values = table_values(table, number);
	char name[32];

	set_phase_name(name, sizeof(name), run_bursts_phase(bursts, burst), "unclassified");
	track_events_start(trace->events, track, from, false, CATEGORY_WORK, name);
	for (unsigned metric = 0; metric < table->metrics; metric++)
		if (isfinite(values[metric]))
			track_events_number(trace->events, table->name[metric], values[metric]);
	if (burst->prototype)
		track_events_number(trace->events, "prototype", burst->prototype - 1);
	track_events_write(trace->events);
	track_events_end(trace->events, track, burst->end);
}

static void add_bursts(struct trace *trace, const struct run_bursts *bursts)
{
	const struct burst *last = NULL;
	uint64_t track = 0, end = 0;

	for (size_t i = 0; i < bursts->table.count; i++) {
		const struct burst *burst = &bursts->table.burst[i];

		if (!last || last->task != burst->task)
			add_rank(trace, burst->task, "");
		if (!last || last->task != burst->task || last->thread != burst->thread) {
			track = add_thread(trace, burst->task, burst->thread);
			end = 0;
		}
		/* slices on a track must not overlap by the rounding of their times */
		if (burst->end > end)
			add_burst(trace, track, bursts, i, burst->begin > end ? burst->begin : end);
		end = burst->end > end ? burst->end : end;
		last = burst;
	}
}

/* ---- from the structure of the calls ---- */

/* Adds a slice from *at, or an event if it has no length, and moves *at to its end. */
static void add_span(const struct trace *trace, uint64_t track, double *at, double seconds)
{
	uint64_t from = (uint64_t)llround(*at), to;

	track_events_write(trace->events);
	*at += seconds * NS;
	to = (uint64_t)llround(*at);
	if (to > from)
		track_events_end(trace->events, track, to);
}

static bool has_length(double at, double seconds)
{
	return llround(at + seconds * NS) > llround(at);
}

static void add_text(const struct trace *trace, const json_t *token, const char *key)
{
	const char *text = json_string_value(json_object_get(token, key));

	if (text && *text)
		track_events_text(trace->events, key, text);
}

static void add_call(const struct trace *trace, uint64_t track, double *at, const json_t *token)
{
	double burst = structure_calls_mean(token, "burst_seconds");
	double seconds = structure_calls_mean(token, "call_seconds");
	const char *call = json_string_value(json_object_get(token, "call"));
	char name[32];

	if (has_length(*at, burst)) {
		set_phase_name(name, sizeof(name), report_get(token, "phase"), "computation");
		track_events_start(trace->events, track, (uint64_t)llround(*at), false,
				CATEGORY_WORK, name);
		add_span(trace, track, at, burst);
	} else {
		*at += burst * NS;
	}
	track_events_start(trace->events, track, (uint64_t)llround(*at), !has_length(*at, seconds),
			CATEGORY_CALL, call && *call ? call : "unknown call");
	add_text(trace, token, "function");
	add_text(trace, token, "position");
	add_span(trace, track, at, seconds);
}

static void add_hidden(const struct trace *trace, uint64_t track, double *at,
		const struct structure_call *call)
{
	double seconds = 0;

	if (call->token)
		seconds = call->hidden *
				(structure_calls_mean(call->token, "burst_seconds") +
						structure_calls_mean(call->token, "call_seconds"));
	track_events_start(trace->events, track, (uint64_t)llround(*at), !has_length(*at, seconds),
			CATEGORY_CALL,
			call->token ? "calls in unknown order" : "further calls are not known");
	track_events_number(trace->events, "calls", round(call->hidden));
	add_span(trace, track, at, seconds);
}

/* Adds the calls of a rank. Returns false if they are not known. */
static bool add_calls(struct trace *trace, const json_t *report, unsigned rank)
{
	char why[200];
	struct structure_calls *calls = structure_calls_new(report, rank, why, sizeof(why));
	struct structure_call call;
	enum structure_step step;
	uint64_t track;
	double at = 0;

	if (!calls)
		return false;
	add_rank(trace, rank, " (times are means)");
	track = add_thread(trace, rank, 0);
	while ((step = structure_calls_next(calls, &call)) != STRUCTURE_END) {
		if (step == STRUCTURE_CALL) {
			add_call(trace, track, &at, call.token);
			continue;
		}
		add_hidden(trace, track, &at, &call);
		if (step == STRUCTURE_LOST)
			break;
	}
	structure_calls_free(calls);
	return true;
}

static bool add_structure(struct trace *trace, const json_t *report, char *why, size_t why_size)
{
	bool any = false;

	for (unsigned rank = 0; rank < trace->ranks; rank++)
		any = add_calls(trace, report, rank) || any;
	if (!any)
		snprintf(why, why_size,
				"the run has neither a table of bursts (PHASEMUX_REPORT=json,bursts) nor "
				"the structure of its calls (PHASEMUX_TRACE=structure)");
	return any;
}

bool perfetto_write(FILE *out, const json_t *report, const char *path, char *why, size_t why_size)
{
	struct run_bursts bursts = { .phase = NULL };
	struct trace trace = { .events = track_events_new(out) };
	double ranks = report_get(report, "ranks");
	int failed = run_bursts_open(&bursts, report, path, why, why_size);
	bool good = trace.events && (!failed || failed == -ENOENT);

	trace.ranks = ranks >= 1 && ranks < INT_MAX ? (unsigned)ranks : 1;
	trace.tids = trace.ranks;
	if (good && !failed)
		add_bursts(&trace, &bursts);
	else if (good)
		good = add_structure(&trace, report, why, why_size);
	if (trace.events && !track_events_close(trace.events) && good) {
		good = false;
		snprintf(why, why_size, "no memory");
	}
	if (!trace.events)
		snprintf(why, why_size, "no memory");
	run_bursts_fini(&bursts);
	return good;
}
