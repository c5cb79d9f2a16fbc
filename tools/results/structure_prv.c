/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each rank has a burst and a call in turn, each as long as in the mean. The records of all ranks are merged by time.
 */
#include "tools/results/structure_prv.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/report_line.h"
#include "tools/paraver/prv_file.h"
#include "tools/results/structure_calls.h"
#include "tools/results/structure_tree.h"

#define NS 1e9

/* ---- names ---- */

/* What the records of a token of a structure say. */
struct label {
	double seconds[2]; /* of the burst and of the call, as means */
	enum prv_class kind;
	size_t call, function, line; /* values; 0: none */
	unsigned phase;              /* 0: none */
};

struct labelled {
	const json_t *structure;
	struct label *label; /* of each token */
	size_t count;
};

/* The trace that is written. */
struct trace {
	struct prv_names call[PRV_CLASSES], function, line;
	struct labelled *structures;
	size_t count;
	unsigned phases; /* the highest number */
	struct rank *rank;
	size_t ranks;
	FILE *out;
};

static void label_token(struct trace *trace, const json_t *token, struct label *label)
{
	const char *call = json_string_value(json_object_get(token, "call"));
	const char *position = json_string_value(json_object_get(token, "position"));
	double phase = report_get(token, "phase");
	const char *const keys[2] = { "burst_seconds", "call_seconds" };

	for (unsigned i = 0; i < 2; i++)
		label->seconds[i] = structure_calls_mean(token, keys[i]);
	if (!call) /* a loop, or calls whose order is not known */
		return;
	label->kind = prv_class_of(call);
	label->call = prv_names_number(&trace->call[label->kind], *call ? call : "unknown call");
	label->function = prv_names_number(&trace->function,
			json_string_value(json_object_get(token, "function")));
	label->line = prv_names_number(&trace->line, position);
	label->phase = isfinite(phase) && phase >= 1 && phase < 1e6 ? (unsigned)phase : 0;
	if (label->phase > trace->phases)
		trace->phases = label->phase;
}

/* Labels the tokens of a body and of the bodies in it. Returns false without memory. */
static bool label_body(struct trace *trace, const json_t *body, struct labelled *labelled)
{
	const json_t *token;
	size_t i;

	json_array_foreach (body, i, token) {
		size_t room = labelled->count + 1;
		struct label *more = realloc(labelled->label, room * sizeof(*more));

		if (!more)
			return false;
		labelled->label = more;
		labelled->label[labelled->count] = (struct label){ .call = 0 };
		label_token(trace, token, &labelled->label[labelled->count++]);
		if (!label_body(trace, json_object_get(token, "body"), labelled))
			return false;
	}
	return true;
}

static bool label_structures(struct trace *trace, const json_t *list)
{
	const json_t *structure;
	size_t i;

	trace->structures = calloc(json_array_size(list) + 1, sizeof(*trace->structures));
	if (!trace->structures)
		return false;
	json_array_foreach (list, i, structure) {
		trace->structures[i].structure = structure;
		trace->count++;
		if (!label_body(trace, json_object_get(structure, "text"), &trace->structures[i]))
			return false;
	}
	return true;
}

/* ---- ranks ---- */

/* What comes next in a rank. */
enum stage { BURST, CALL, AFTER, DONE };

struct rank {
	unsigned number;
	struct structure_calls *calls; /* NULL: not known, or at the end */
	const struct labelled *labelled;
	enum structure_step step;
	struct structure_call call;
	enum stage stage;
	double at; /* ns of the next record; fractions are kept, so that means do not add up wrongly */
};

static uint64_t ns_of(double at)
{
	return (uint64_t)llround(at);
}

static const struct label *label_of(const struct rank *rank)
{
	return &rank->labelled->label[rank->call.number];
}

static bool rank_start(struct trace *trace, const json_t *report, struct rank *rank)
{
	char why[200];
	const json_t *structure;

	rank->stage = DONE;
	rank->at = 0;
	rank->calls = structure_calls_new(report, rank->number, why, sizeof(why));
	if (!rank->calls)
		return false;
	structure = structure_calls_structure(rank->calls);
	for (size_t i = 0; i < trace->count; i++)
		if (trace->structures[i].structure == structure)
			rank->labelled = &trace->structures[i];
	rank->stage = BURST;
	rank->step = structure_calls_next(rank->calls, &rank->call);
	return true;
}

static void rank_stop(struct rank *rank)
{
	structure_calls_free(rank->calls);
	rank->calls = NULL;
	rank->stage = DONE;
}

/* Returns how long the next burst and the next call take. hidden calls are together. */
static double duration(const struct rank *rank, unsigned which)
{
	double calls = rank->step == STRUCTURE_HIDDEN ? rank->call.hidden : 1;

	return label_of(rank)->seconds[which] * calls * NS;
}

/* Returns when a rank has made its last call, to the digit as write_burst and write_call add it up. */
static double end_of(struct trace *trace, const json_t *report, struct rank *rank)
{
	double end = 0;

	if (!rank_start(trace, report, rank))
		return 0;
	while (rank->step <= STRUCTURE_HIDDEN) {
		end += duration(rank, 0);
		end += duration(rank, 1);
		rank->step = structure_calls_next(rank->calls, &rank->call);
	}
	rank_stop(rank);
	return end;
}

/* ---- records ---- */

static void state(const struct trace *trace, const struct rank *rank, double end, unsigned value)
{
	uint64_t from = ns_of(rank->at), to = ns_of(end);

	if (from < to)
		fprintf(trace->out, "1:%u:1:%u:1:%llu:%llu:%u\n", rank->number + 1,
				rank->number + 1, (unsigned long long)from, (unsigned long long)to,
				value);
}

static void event(const struct trace *trace, const struct rank *rank)
{
	fprintf(trace->out, "2:%u:1:%u:1:%llu", rank->number + 1, rank->number + 1,
			(unsigned long long)ns_of(rank->at));
}

static void write_burst(const struct trace *trace, struct rank *rank)
{
	double end = rank->at + duration(rank, 0);

	if (rank->step == STRUCTURE_HIDDEN) {
		end += duration(rank, 1);
		state(trace, rank, end, PRV_STATE_UNKNOWN);
		event(trace, rank);
		fprintf(trace->out, ":%u:%.0f\n", PRV_TYPE_NO_RECORD, rank->call.hidden);
		rank->stage = AFTER;
	} else {
		state(trace, rank, end, PRV_STATE_RUNNING);
		if (label_of(rank)->phase) {
			event(trace, rank);
			fprintf(trace->out, ":%u:%u\n", PRV_TYPE_PHASE,
					PRV_PHASE_BASE + label_of(rank)->phase);
		}
		rank->stage = CALL;
	}
	rank->at = end;
}

static void write_call(const struct trace *trace, struct rank *rank)
{
	const struct label *label = label_of(rank);
	double end = rank->at + duration(rank, 1);

	state(trace, rank, end, PRV_STATE_CALL);
	event(trace, rank);
	if (label->phase)
		fprintf(trace->out, ":%u:0", PRV_TYPE_PHASE);
	fprintf(trace->out, ":%u:%zu", prv_classes[label->kind].type, label->call);
	if (label->function)
		fprintf(trace->out, ":%u:%zu", PRV_TYPE_FUNCTION, label->function);
	if (label->line)
		fprintf(trace->out, ":%u:%zu", PRV_TYPE_LINE, label->line);
	fputc('\n', trace->out);
	rank->stage = AFTER;
	rank->at = end;
}

/* Ends a call, and goes to the next one. */
static void write_after(const struct trace *trace, struct rank *rank)
{
	const struct label *label = label_of(rank);

	event(trace, rank);
	if (rank->step == STRUCTURE_HIDDEN) {
		fprintf(trace->out, ":%u:0", PRV_TYPE_NO_RECORD);
	} else {
		fprintf(trace->out, ":%u:0", prv_classes[label->kind].type);
		if (label->function)
			fprintf(trace->out, ":%u:0", PRV_TYPE_FUNCTION);
		if (label->line)
			fprintf(trace->out, ":%u:0", PRV_TYPE_LINE);
	}
	fputc('\n', trace->out);
	rank->step = structure_calls_next(rank->calls, &rank->call);
	rank->stage = BURST;
}

/* Writes the next records of a rank, which are all at one time or begin at it. */
static void rank_write(const struct trace *trace, struct rank *rank)
{
	if (rank->stage == BURST && rank->step > STRUCTURE_HIDDEN) {
		if (rank->step == STRUCTURE_LOST) {
			event(trace, rank);
			fprintf(trace->out, ":%u:%.0f\n", PRV_TYPE_NO_RECORD, rank->call.hidden);
		}
		rank_stop(rank);
	} else if (rank->stage == BURST) {
		write_burst(trace, rank);
	} else if (rank->stage == CALL) {
		write_call(trace, rank);
	} else {
		write_after(trace, rank);
	}
}

/* ---- all ranks, by time ---- */

static bool is_earlier(const struct rank *x, const struct rank *y)
{
	uint64_t at = ns_of(x->at), other = ns_of(y->at);

	return at < other || (at == other && x->number < y->number);
}

/* Restores the order of a heap of ranks, of which only the one at `at` may be too early in it. */
static void sink(struct rank *heap, size_t count, size_t at)
{
	for (;;) {
		size_t least = at;
		struct rank moved = heap[at];

		for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
			if (is_earlier(&heap[child], &heap[least]))
				least = child;
		if (least == at)
			return;
		heap[at] = heap[least];
		heap[least] = moved;
		at = least;
	}
}

static void write_records(struct trace *trace)
{
	size_t count = 0;

	for (size_t i = 0; i < trace->ranks; i++)
		if (trace->rank[i].stage != DONE)
			trace->rank[count++] = trace->rank[i];
	for (size_t i = count; i--;)
		sink(trace->rank, count, i);
	while (count) {
		rank_write(trace, &trace->rank[0]);
		if (trace->rank[0].stage == DONE)
			trace->rank[0] = trace->rank[--count];
		sink(trace->rank, count, 0);
	}
	trace->ranks = 0;
}

/* Writes the first line. The ranks are on one node of as many processors, because it is not known which ran where. */
static void write_header(const struct trace *trace, const json_t *report, double end, size_t ranks)
{
	prv_write_head(trace->out, report_get_text(report, "date"), ns_of(end), ranks);
	/* the label of this event says what the times are */
	fprintf(trace->out, "2:1:1:1:1:0:%u:1\n", PRV_TYPE_TIMES);
}

static void write_pcf(const struct trace *trace, FILE *out)
{
	prv_write_states(out, "Calls in unknown order");
	for (unsigned kind = 0; kind < PRV_CLASSES; kind++)
		prv_names_write(out, prv_classes[kind].type, prv_classes[kind].name,
				&trace->call[kind], "Outside MPI");
	prv_names_write(out, PRV_TYPE_FUNCTION, "Caller at level 1", &trace->function, "End");
	prv_names_write(out, PRV_TYPE_LINE, "Caller line at level 1", &trace->line, "End");
	prv_write_phases(out, trace->phases);
	fprintf(out,
			"\nEVENT_TYPE\n9    %u    Calls whose order is not known\n"
			"\nEVENT_TYPE\n9    %u    Times of this trace\nVALUES\n"
			"1    Means over all rounds and ranks, not recorded time stamps\n",
			PRV_TYPE_NO_RECORD, PRV_TYPE_TIMES);
}

static void write_row(FILE *out, const json_t *report, size_t ranks)
{
	const json_t *list = json_object_get(json_object_get(report, "structure"), "structures");

	prv_write_places(out, ranks);
	for (size_t i = 0; i < ranks; i++) {
		const json_t *structure;
		bool known = false;
		size_t k;

		json_array_foreach (list, k, structure)
			known = known || structure_has_rank(structure, (long)i);
		fprintf(out, "THREAD 1.%zu.1%s\n", i + 1, known ? "" : " (not known)");
	}
}

/* Writes the records. Returns false with one line in why. */
static bool write_prv(struct trace *trace, const json_t *report, size_t ranks, const char *path,
		char *why, size_t why_size)
{
	double end = 0;

	for (size_t i = 0; i < trace->ranks; i++)
		end = fmax(end, end_of(trace, report, &trace->rank[i]));
	trace->out = prv_create(path, ".prv", why, why_size);
	if (!trace->out)
		return false;
	write_header(trace, report, end, ranks);
	for (size_t i = 0; i < trace->ranks; i++)
		rank_start(trace, report, &trace->rank[i]);
	write_records(trace);
	return prv_close(trace->out, ".prv", why, why_size);
}

static bool write_files(struct trace *trace, const json_t *report, size_t ranks, const char *path,
		char *why, size_t why_size)
{
	FILE *file;

	if (!write_prv(trace, report, ranks, path, why, why_size))
		return false;
	file = prv_create(path, ".pcf", why, why_size);
	if (!file)
		return false;
	write_pcf(trace, file);
	if (!prv_close(file, ".pcf", why, why_size))
		return false;
	file = prv_create(path, ".row", why, why_size);
	if (!file)
		return false;
	write_row(file, report, ranks);
	return prv_close(file, ".row", why, why_size);
}

static void trace_fini(struct trace *trace)
{
	for (unsigned kind = 0; kind < PRV_CLASSES; kind++)
		prv_names_fini(&trace->call[kind]);
	prv_names_fini(&trace->function);
	prv_names_fini(&trace->line);
	for (size_t i = 0; i < trace->count; i++)
		free(trace->structures[i].label);
	free(trace->structures);
	free(trace->rank);
}

bool structure_prv(const json_t *report, long rank, const char *path, char *why, size_t why_size)
{
	const json_t *structure = json_object_get(report, "structure");
	double count = report_get(report, "ranks");
	size_t ranks = count >= 1 && count < INT_MAX ? (size_t)count : 1;
	struct trace trace = { .count = 0 };
	bool good;

	if (!json_is_object(structure)) {
		snprintf(why, why_size, STRUCTURE_MISSING);
		return false;
	}
	if (rank >= (long)ranks) {
		snprintf(why, why_size, "the job has no rank %ld", rank);
		return false;
	}
	trace.rank = calloc(ranks, sizeof(*trace.rank));
	good = trace.rank && label_structures(&trace, json_object_get(structure, "structures"));
	if (!good)
		snprintf(why, why_size, "no memory");
	for (size_t i = 0; i < ranks && good; i++)
		if (rank < 0 || rank == (long)i)
			trace.rank[trace.ranks++].number = (unsigned)i;
	good = good && write_files(&trace, report, ranks, path, why, why_size);
	trace_fini(&trace);
	return good;
}
