/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fuzzes what is made of a report from another source: the plan of a replay, and the trace. So are a plan and a trace from
 * another source.
 */
#include "agent/text/report_text.h"
#include "agent/trace/trace_pack.h"
#include "agent/trace/trace_unpack.h"
#include "fuzz.h"
#include "tools/replay/plan/cursor.h"
#include "tools/replay/plan_write.h"

#define CALLS_MAX  200 /* of a rank; loops may have any number of rounds */
#define RANKS_MAX  4
#define MARK_EVERY 5 /* calls */

static const char report_seed[] =
		"{\"phasemux\":1,\"ranks\":2,\"wall_seconds\":2,\"threads_mean\":2,\"rank_times\":{\"each\":["
		"{\"useful_seconds\":1,\"mpi_seconds\":1},{\"useful_seconds\":1.5}],\"deciles\":null},\"phases\":[{\"id\":1,\"counters\":{},"
		"\"time_share\":0.9,\"ranks\":2,\"slowest_rank\":1,\"rank_seconds\":{\"mean\":1,\"most\":1.2},"
		"\"duration_seconds\":{\"mean\":0.01,\"sd\":0.002}}],\"structure\":{\"structures\":[{\"ranks\":2,"
		"\"first_rank\":0,\"rank_ranges\":[[0,1,2]],\"calls\":20,\"unobserved_calls\":0,\"exact_calls\":null,"
		"\"expandable_calls\":null,\"gathered\":false,\"text\":[{\"call\":\"MPI_Init\",\"repeats\":[1,1],\"count\":2},"
		"{\"body\":[{\"call\":\"MPI_Sendrecv\",\"path\":0,\"phase\":1,\"repeats\":[1,3],\"count\":9,"
		"\"counts\":[[1,2],[3,1]],\"burst_seconds\":{\"mean\":0.01,\"ranks\":[0.005,0.015]},"
		"\"call_seconds\":{\"mean\":0.02,\"ranks\":[0.01,0.03]}},{\"unobserved\":true,\"repeats\":[1,1],\"count\":6}],"
		"\"repeats\":[3,3],\"count\":6},{\"call\":\"MPI_Finalize\",\"repeats\":[1,1],\"count\":2}],"
		"\"variants\":[{\"ranks\":2,\"rank_ranges\":[[0,1,2]],\"calls\":20,\"expandable_calls\":null,"
		"\"counts\":[1,3,[[1,2],[3,1]],2,1]}]}],\"left_out_ranks\":0,\"arguments\":{\"version\":1,\"paths\":["
		"{\"call\":\"MPI_Sendrecv\",\"to\":[{\"ranks\":1,\"rank_ranges\":[[0,1,1]],\"values\":5,\"exact_values\":null,"
		"\"marks\":1,\"least\":1,\"most\":1,\"mean\":1,\"stream\":[[2,[[2,1],[1,\"none\"]]]]}],"
		"\"bytes\":[{\"ranks\":2,\"rank_ranges\":[[0,1,2]],\"values\":10,\"exact_values\":3,\"marks\":0,\"least\":8,"
		"\"most\":80,\"mean\":20,\"stream\":[[3,8]]}],\"tag\":[{\"ranks\":2,\"rank_ranges\":[[0,1,2]],\"values\":10,"
		"\"marks\":10,\"stream\":[[5,\"any\"]]}],\"opens_requests\":true,\"back\":[{\"ranks\":2,\"rank_ranges\":[[0,1,2]],"
		"\"values\":10,\"marks\":5,\"stream\":[[5,2]]}]}],\"left_out_ranks\":0,\"left_out_values\":0}}}";

static const char plan_seed[] =
		"phasemux_replay_plan 2 ranks 2 seconds 2 call_most 0.1 bytes_most 80 phases 1 0.2 0.9 2 0.8 1.2 paths 1 1 "
		"1 1 0 1 2 5 ? 2 2 ( 2 2 1 1 none 1 ? 1 1 0 1 2 5 ? 1 5 any 0 1 1 0 1 2 5 20 1 3 8 0 0 0 0 0 0 1 1 0 1 2 5 ? 1 5 2 0 0 structures 1 3 "
		"call MPI_Init -1 -1 0 0 0 0 loop 2 call MPI_Recv 0 0 0.01 0.005 0.015 0.02 hole 0.1 0.1 "
		"call MPI_Finalize -1 -1 0 0 0 0 1 1 0 1 2 -1 1 1 1 1 3 1 2 1 2 3 1 1 2 1 1 1 1 end";

static const char trace_seed[] =
		"{\"phasemux_trace\":1,\"ranks\":2,\"wall_seconds\":2,\"places\":[{\"call\":\"MPI_Init\"},"
		"{\"call\":\"MPI_Sendrecv\",\"path\":0}],\"structures\":[{\"ranks\":2,\"first_rank\":0,"
		"\"rank_ranges\":[[0,1,2]],\"calls\":20,\"expandable_calls\":null,\"variants\":[{\"ranks\":2,"
		"\"rank_ranges\":[[0,1,2]],\"calls\":20,\"expandable_calls\":null,\"counts\":[1,3,[[1,2],[3,1]],2]}],"
		"\"text\":[[0,1,2,null,250],[[[1,[1,3],9,[10,5,15],[20,10,30],1,[[1,2],[3,1]]],[null,1,6,10,10]],3,6,10,10,1]]}],"
		"\"left_out_ranks\":0,\"arguments\":{\"version\":1,\"paths\":[{\"call\":\"MPI_Sendrecv\",\"to\":["
		"[2,[[0,1,2]],5,null,1,1,1,1.5,[[2,[[2,1],\"none\"]],null]]]}]}}";

/* Goes through the first calls of a rank, and leaves out what comes again. */
static void go_through_rank(const struct plan *plan, long rank, const struct sample *sample)
{
	char why[200] = "";
	struct cursor *cursor = cursor_new(plan, rank, (unsigned)rank, sample, why, sizeof(why));
	struct cursor_mark *mark = cursor ? cursor_mark_new(cursor) : NULL;
	struct cursor_call call;

	if (!cursor && !*why)
		abort();
	for (unsigned i = 0; mark && i < CALLS_MAX; i++) {
		uint64_t repeats = i ? cursor_repeats(cursor, mark) : 0;

		if (repeats && repeats != CURSOR_ALWAYS)
			cursor_leave_out(cursor, mark, repeats);
		if (i % MARK_EVERY == 0 || repeats)
			cursor_mark_set(cursor, mark);
		if (cursor_next(cursor, &call) >= CURSOR_LOST)
			break;
	}
	free(mark);
	cursor_free(cursor);
}

/* Goes through the first calls of each rank, also with rounds left out. */
static void go_through(const struct plan *plan)
{
	struct sample sample;

	if (!sample_init(&sample, plan, sample_choose(plan, CALLS_MAX), 1))
		abort();
	for (long rank = 0; rank < plan->ranks && rank < RANKS_MAX; rank++) {
		go_through_rank(plan, rank, NULL);
		go_through_rank(plan, rank, &sample);
	}
	sample_fini(&sample);
}

static bool fuzz_plan(const char *text, size_t size)
{
	char *copy = malloc(size + 1);
	struct plan *plan;

	if (!copy)
		abort();
	memcpy(copy, text, size);
	copy[size] = 0;
	plan = plan_parse(copy, size);
	if (plan)
		go_through(plan);
	plan_free(plan);
	free(copy);
	return plan != NULL;
}

/* Makes a trace of a report, and reads it. */
static void traced(const json_t *report)
{
	char why[200] = "";
	json_t *trace = trace_pack(report);

	json_decref(trace ? trace_unpack(trace, why, sizeof(why)) : NULL);
	json_decref(trace);
}

/* Returns the report of a trace, with the keys that it needs for a plan. */
static json_t *untraced(json_t *trace)
{
	char why[200] = "";
	json_t *report = trace_unpack(trace, why, sizeof(why));

	if (!report && !*why)
		abort();
	json_decref(trace);
	if (report) {
		json_object_set_new(report, "phasemux", json_integer(1));
		json_object_set_new(report, "phases", json_array());
	}
	return report;
}

static bool fuzz_report(const unsigned char *data, size_t size)
{
	json_t *report = json_loadb((const char *)data, size, 0, NULL);
	char why[400] = "", *text = NULL;
	size_t length;
	FILE *out = report ? open_memstream(&text, &length) : NULL;
	bool accepted;

	if (!out) {
		json_decref(report);
		return false;
	}
	if (trace_unpack_is_trace(report))
		report = untraced(report);
	else
		traced(report);
	accepted = report_is_valid(report, why, sizeof(why)) &&
			plan_write(report, out, why, sizeof(why));
	fclose(out);
	if (accepted)
		accepted = fuzz_plan(text, length);
	else if (!*why)
		abort();
	free(text);
	json_decref(report);
	return accepted;
}

static bool fuzz_one(const unsigned char *data, size_t size)
{
	if (size && *data == '{')
		return fuzz_report(data, size);
	return fuzz_plan((const char *)data, size);
}

static void fuzz_repair(unsigned char *data, size_t size)
{
	(void)data;
	(void)size;
}

static size_t fuzz_seed(unsigned seed, unsigned char *data)
{
	static const char *const texts[] = { report_seed, plan_seed, trace_seed };
	const char *text = seed < sizeof(texts) / sizeof(texts[0]) ? texts[seed] : "";

	memcpy(data, text, strlen(text));
	return strlen(text);
}
