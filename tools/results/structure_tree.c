/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/results/structure_tree.h"

#include <math.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"
#include "agent/text/report_structure.h"
#include "tools/results/structure_arguments.h"
#include "tools/results/structure_calls.h"

#define DEPTH_MAX  48   /* loops around a call that is shown; the agent has at most 24 */
#define RANGE_FROM 1.05 /* ratio of the means of two ranks from which both are shown */

static double number_at(const json_t *array, size_t i)
{
	return json_number_value(json_array_get(array, i));
}

/* Prints how often a token is repeated, in eight columns. */
static void print_repeats(FILE *out, const json_t *token)
{
	const json_t *repeats = json_object_get(token, "repeats");
	double least = number_at(repeats, 0), most = number_at(repeats, 1);
	char text[40];

	if (json_is_true(json_object_get(token, "unobserved")))
		snprintf(text, sizeof(text), "%s", format_count(report_get(token, "count")).text);
	else if (least != most)
		snprintf(text, sizeof(text), "%.0f..%.0f", least, most);
	else
		snprintf(text, sizeof(text), "%.0f", most);
	fprintf(out, "%8s ", text);
}

/* Prints a mean time, in ten columns. */
static void print_mean(FILE *out, const json_t *token, const char *key)
{
	fprintf(out, "%10s", format_seconds(report_get_in(token, key, "mean")).text);
}

/* Prints the range of the means of the ranks, if they differ. */
static void print_range(FILE *out, const json_t *token, const char *key, const char *what)
{
	const json_t *ranks = json_object_get(json_object_get(token, key), "ranks");
	double least = number_at(ranks, 0), most = number_at(ranks, 1);

	if (most > RANGE_FROM * least)
		fprintf(out, "  %s %s..%s", what, format_seconds(least).text,
				format_seconds(most).text);
}

static void print_phase(FILE *out, const json_t *token)
{
	double phase = report_get(token, "phase");

	if (isfinite(phase))
		fprintf(out, " %5.0f ", phase);
	else
		fprintf(out, " %5s ", "");
}

void structure_tree_place(FILE *out, const json_t *token)
{
	const char *function = json_string_value(json_object_get(token, "function"));
	const char *position = json_string_value(json_object_get(token, "position"));
	const char *base = position ? strrchr(position, '/') : NULL;

	if (function && *function)
		fprintf(out, " in %s", function);
	if (position)
		fprintf(out, " %s", base ? base + 1 : position);
}

/* What is shown. */
struct shown {
	const json_t *report;
	long rank; /* -1: all */
	FILE *out;
};

static void print_body(const struct shown *shown, const json_t *body, unsigned depth);

static void print_call(const struct shown *shown, const json_t *token)
{
	fputs(report_get_text(token, "call"), shown->out);
	structure_arguments_summary(shown->report, token, shown->rank, shown->out);
	structure_tree_place(shown->out, token);
}

static void print_token(const struct shown *shown, const json_t *token, unsigned depth)
{
	FILE *out = shown->out;
	const json_t *body = json_object_get(token, "body");

	print_phase(out, token);
	print_mean(out, token, "burst_seconds");
	print_mean(out, token, "call_seconds");
	print_repeats(out, token);
	fprintf(out, "%*s", (int)(2 * depth), "");
	if (body)
		fputs(json_is_true(json_object_get(token, "iteration")) ? "x { the iteration" :
									  "x {",
				out);
	else if (json_is_true(json_object_get(token, "unobserved")))
		fputs("calls in unknown order", out);
	else
		print_call(shown, token);
	print_range(out, token, "burst_seconds", "bursts");
	print_range(out, token, "call_seconds", "calls");
	fputc('\n', out);
	if (!body)
		return;
	print_body(shown, body, depth + 1);
	fprintf(out, "%36s%*s}\n", "", (int)(2 * depth), "");
}

static void print_body(const struct shown *shown, const json_t *body, unsigned depth)
{
	const json_t *token;
	size_t i;

	json_array_foreach (body, i, token)
		if (depth < DEPTH_MAX)
			print_token(shown, token, depth);
}

/* Returns how many ranks of a structure have counts that found no room in the report. */
static double ranks_without_counts(const json_t *structure)
{
	const json_t *variant;
	double ranks = 0;
	size_t i;

	json_array_foreach (json_object_get(structure, "variants"), i, variant)
		if (json_is_null(json_object_get(variant, "counts")))
			ranks += report_get(variant, "ranks");
	return ranks;
}

static void print_structure(const struct shown *shown, const json_t *structure)
{
	FILE *out = shown->out;
	const json_t *iteration = json_object_get(structure, "iteration");
	char *recurs = report_structure_recurrence(json_object_get(structure, "recurrence"));
	double ranks = report_get(structure, "ranks"),
	       unknown = report_get(structure, "unobserved_calls"),
	       lost = ranks_without_counts(structure);

	fprintf(out, "%.0f %s, from rank %.0f on: %s calls", ranks, ranks == 1 ? "rank" : "ranks",
			report_get(structure, "first_rank"),
			format_count(report_get(structure, "calls")).text);
	if (unknown > 0)
		fprintf(out, ", of which the order of %s is not known", format_count(unknown).text);
	if (json_is_object(iteration))
		fprintf(out, ", %s iterations of %s", report_structure_rounds(iteration).text,
				format_seconds(report_get(iteration, "mean_seconds")).text);
	else if (recurs)
		fprintf(out, ", no loop that is the iteration, but %s", recurs);
	else
		fputs(", no iteration", out);
	free(recurs);
	if (json_is_true(json_object_get(structure, "gathered")))
		fputs(", other calls of each rank were not observed: a round has some of these parts",
				out);
	if (lost > 0)
		fprintf(out, ", the counts of %.0f %s found no room", lost,
				lost == 1 ? "rank" : "ranks");
	fprintf(out, "\n%6s %10s%10s %8s\n", "phase", "burst", "call", "repeats");
	print_body(shown, json_object_get(structure, "text"), 0);
}

char *structure_tree(const json_t *report, long rank, char *why, size_t why_size)
{
	const json_t *structure = json_object_get(report, "structure"), *one;
	struct shown shown = { report, rank, NULL };
	size_t i, size, structures = 0;
	char *text = NULL;
	double cut = structure_arguments_cut(report);

	if (!json_is_object(structure)) {
		snprintf(why, why_size, STRUCTURE_MISSING);
		return NULL;
	}
	shown.out = open_memstream(&text, &size);
	if (!shown.out) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	json_array_foreach (json_object_get(structure, "structures"), i, one) {
		if (rank >= 0 && !structure_has_rank(one, rank))
			continue;
		if (structures++)
			fputc('\n', shown.out);
		print_structure(&shown, one);
	}
	if (!structures)
		fprintf(shown.out,
				rank < 0 ? "no structure is known\n" :
					   "the structure of this rank is not known\n");
	if (cut > 0)
		fprintf(shown.out,
				"\nof %.0f sequences of arguments only the start is kept, or their range\n",
				cut);
	fclose(shown.out);
	return text;
}
