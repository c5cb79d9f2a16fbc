/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/outcome.h"

#include <math.h>

#include "agent/report/parts/document.h"
#include "agent/text/format.h"
#include "agent/text/report_line.h"

#define OUTCOME_VERSION 1    /* of the JSON */
#define OVERHEAD_MIN    0.01 /* share of the recorded time that is said */
#define DEPRIVED_MANY   0.05 /* share of the bursts without a processor that is said */

static const struct {
	const char *word, *sentence;
} reasons[CURSOR_REASONS] = {
	[CURSOR_UNSUPPORTED] = { "unsupported",
			"such calls are not replayed, and only their time is spent" },
	[CURSOR_UNKNOWN] = { "unknown_arguments",
			"their arguments are not recorded, and only their time is spent" },
	[CURSOR_COPY] = { "communicator",
			"the members of their communicators are not recorded, and only their time is spent" },
};

double outcome_accuracy(const struct outcome *outcome)
{
	return 1 - fabs(outcome->recorded - outcome->replayed) / outcome->recorded;
}

/* ---- words ---- */

static const char *plural(double count, const char *one, const char *many)
{
	return count == 1 ? one : many;
}

static void print_times(const struct outcome *outcome, FILE *out)
{
	if (isnan(outcome->replayed))
		report_line(out, 0,
				"The calls of the %ld ranks fit together, so that they can be replayed. Nothing was run.",
				outcome->ranks);
	else
		report_line(out, 0,
				"The replay took %s, and the recorded run %s: an accuracy of %s (1 - |t - t'| / t).",
				format_seconds(outcome->replayed).text,
				format_seconds(outcome->recorded).text,
				format_percent(outcome_accuracy(outcome)).text);
}

/* Returns the seconds that phasemux itself took of each rank of the recorded run. */
static double overhead(const struct outcome *outcome)
{
	return report_get_in(outcome->report, "agent", "seconds") / (double)outcome->ranks;
}

static void print_overhead(const struct outcome *outcome, FILE *out)
{
	if (!isnan(outcome->replayed) && overhead(outcome) > OVERHEAD_MIN * outcome->recorded)
		report_line(out, 0,
				"The recorded run has some %s of phasemux itself in each rank, which the replay does not have.",
				format_seconds(overhead(outcome)).text);
}

/* Says that the accuracy is that of a busy machine, if it is. */
static void print_deprived(const struct outcome *outcome, FILE *out)
{
	if (outcome->deprived > DEPRIVED_MANY)
		report_line(out, 0,
				"A rank had no processor in %s of the time in which the replay computed: other programs used it. Try again when they have ended.",
				format_percent(outcome->deprived).text);
}

static void print_kind(const struct matching_kind *kind, FILE *out)
{
	const char *what = kind->reason != CURSOR_CARRIED ?
			reasons[kind->reason].sentence :
			kind->without_data ?
			"made without data, because not all sizes of their parts are recorded" :
			NULL;

	if (what)
		report_line(out, 4, "  %.0f %s: %s.", kind->calls, kind->name, what);
	else
		report_line(out, 4, "  %.0f %s: made as %s.", kind->calls, kind->name,
				calls_name(calls_kind(kind->name)));
}

/* Prints a line about a number of calls, if there are any. */
static void print_some(double count, const char *words, FILE *out)
{
	if (count > 0)
		report_line(out, 4, "  %.0f %s %s.", count, plural(count, "call", "calls"), words);
}

void outcome_calls_text(const struct outcome *outcome, const char *done, FILE *out)
{
	const struct matching *matching = &outcome->matching;

	if (matching->carried == matching->calls)
		report_line(out, 0, "All %.0f recorded calls %s.", matching->calls, done);
	else
		report_line(out, 0, "%.0f of %.0f recorded calls %s.", matching->carried,
				matching->calls, done);
	for (size_t i = 0; i < matching->kinds; i++)
		print_kind(&matching->kind[i], out);
	print_some(matching->no_request,
			"for requests that are not replayed: only their time is spent", out);
	print_some(matching->means, "whose size is not recorded: made with the mean size", out);
	print_some(matching->copies,
			"in communicators of the program, whose members are not recorded: made in copies of MPI_COMM_WORLD",
			out);
	print_some(matching->hidden,
			"that were not observed: only their time, and that before them, is spent",
			out);
	if (matching->lost > 0)
		report_line(out, 4,
				"  The last calls of %.0f %s are not recorded, and are missing.",
				matching->lost, plural(matching->lost, "rank", "ranks"));
}

void outcome_text(const struct outcome *outcome, FILE *out)
{
	print_times(outcome, out);
	print_deprived(outcome, out);
	print_overhead(outcome, out);
	outcome_calls_text(outcome,
			isnan(outcome->replayed) ? "can be made again" : "were made again", out);
}

/* ---- JSON ---- */

static json_t *kind_json(const struct matching_kind *kind)
{
	const char *instead = kind->reason != CURSOR_CARRIED ? "time" :
			kind->without_data                   ? "no_data" :
							       calls_name(calls_kind(kind->name));
	const char *why = reasons[kind->reason].word;

	return json_pack("{s:o,s:o,s:o,s:s}", "call", document_text(kind->name), "calls",
			document_number(kind->calls), "reason",
			why ? json_string(why) : json_null(), "instead", instead);
}

json_t *outcome_json(const struct outcome *outcome)
{
	const struct matching *matching = &outcome->matching;
	json_t *list = json_array(), *object;

	for (size_t i = 0; i < matching->kinds; i++)
		list = document_append(list, kind_json(&matching->kind[i]));
	object = json_pack("{s:i,s:O?,s:o,s:o,s:o,s:o,s:o}", "phasemux_replay", OUTCOME_VERSION,
			"command", json_object_get(outcome->report, "command"), "ranks",
			json_integer(outcome->ranks), "seed",
			json_integer((json_int_t)outcome->seed), "recorded_seconds",
			document_number(outcome->recorded), "replayed_seconds",
			document_number(outcome->replayed), "accuracy",
			document_number(outcome_accuracy(outcome)));
	object = document_set(object, "recorded_agent_seconds", document_number(overhead(outcome)));
	object = document_set(object, "deprived_share", document_number(outcome->deprived));
	object = document_set(object, "calls", document_number(matching->calls));
	object = document_set(object, "walked", document_number(matching->walked));
	object = document_set(object, "made", document_number(matching->carried));
	object = document_set(object, "without_request", document_number(matching->no_request));
	object = document_set(object, "mean_sizes", document_number(matching->means));
	object = document_set(object, "in_copies", document_number(matching->copies));
	object = document_set(object, "unobserved", document_number(matching->hidden));
	object = document_set(object, "cut_ranks", document_number(matching->lost));
	return document_set(object, "otherwise", list);
}
