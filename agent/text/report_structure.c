/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/report_structure.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbols/name.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"

#define SHOWN_MAX 3 /* structures; the others are in report.json */
#define SHOWN_PART                                                                                 \
	0.01 /* part of the structure's time from which a time, or a call outside of loops, is shown */
#define NAME_CHARS  24
#define CALLS_MIN   4    /* calls of a process from which they have a structure worth showing */
#define UNKNOWN_MAX 0.5  /* share of calls in unknown order above which a text says little */
#define DEPTH_MAX   32   /* loops around a token that is shown */
#define TEXT_MAX    1000 /* bytes of a structure's text, some ten lines */
#define TEXT_SHORT                                                                                 \
	400 /* of one without an iteration, in which one part says little of the others */
#define INDENT    2
#define FEW_CALLS 10 /* calls of a round below which their mean is shown with a decimal */

/* A text that is being written, of the tokens of one structure. */
struct writing {
	FILE *out;
	double seconds;       /* all bursts and calls */
	bool separate;        /* something stands before the next token, in the same body */
	bool dropped;         /* tokens before the next one are not shown */
	const char *function; /* that was written last, and stands for calls behind it as well */
};

static double mean_of(const json_t *token, const char *key)
{
	double mean = report_get_in(token, key, "mean");

	return isfinite(mean) ? mean : 0;
}

/* Returns the time of all calls of a token, or of all rounds, with the bursts in or before them. */
static double seconds_of(const json_t *token)
{
	double count = report_get(token, "count");

	return isfinite(count) ?
			count * (mean_of(token, "burst_seconds") + mean_of(token, "call_seconds")) :
			0;
}

static bool is_large(const struct writing *writing, const json_t *token, const char *key)
{
	return mean_of(token, key) * report_get(token, "count") >= SHOWN_PART * writing->seconds;
}

static void separate(struct writing *writing)
{
	if (writing->dropped)
		fputs(writing->separate ? ", ..." : "...", writing->out);
	if (writing->separate || writing->dropped)
		fputs(", ", writing->out);
	writing->separate = true;
	writing->dropped = false;
}

/* Writes how often a token is repeated: "3 ", or "2..4 "; nothing if it is repeated once. */
static void write_repeats(struct writing *writing, const json_t *token)
{
	const json_t *repeats = json_object_get(token, "repeats");
	double least = json_number_value(json_array_get(repeats, 0));
	double most = json_number_value(json_array_get(repeats, 1));

	if (least != most)
		fprintf(writing->out, "%.0f..%.0f ", least, most);
	else if (most != 1)
		fprintf(writing->out, "%.0f ", most);
}

/* Writes the burst before a call with its phase, if it takes long. */
static void write_burst(struct writing *writing, const json_t *token)
{
	double phase = report_get(token, "phase");
	struct format_text time = format_seconds(mean_of(token, "burst_seconds"));

	if (!is_large(writing, token, "burst_seconds"))
		return;
	separate(writing);
	if (isfinite(phase))
		fprintf(writing->out, "[phase %.0f: %s]", phase, time.text);
	else
		fprintf(writing->out, "[%s]", time.text);
	writing->separate = false;
	fputc(' ', writing->out);
}

static void write_call(struct writing *writing, const json_t *token)
{
	const char *function = json_string_value(json_object_get(token, "function"));
	bool same = function && writing->function && strcmp(function, writing->function) == 0;
	char *name = function && !same ? strdup(function) : NULL;

	write_burst(writing, token);
	separate(writing);
	write_repeats(writing, token);
	fputs(report_get_text(token, "call"), writing->out);
	if (name && *name) {
		name_shorten(name, NAME_CHARS);
		fprintf(writing->out, " in %s", name);
	}
	if (is_large(writing, token, "call_seconds"))
		fprintf(writing->out, " (%s)", format_seconds(mean_of(token, "call_seconds")).text);
	writing->function = function;
	free(name);
}

static void write_body(struct writing *writing, const json_t *body, unsigned depth);

static void write_token(struct writing *writing, const json_t *token, unsigned depth)
{
	const json_t *body = json_object_get(token, "body");

	/* what takes no time is shown in the loops that take some */
	if (seconds_of(token) < SHOWN_PART * writing->seconds && (body || !depth)) {
		writing->dropped = true;
		return;
	}
	if (json_is_true(json_object_get(token, "unobserved"))) {
		separate(writing);
		fprintf(writing->out, "%s calls in unknown order",
				format_count(report_get(token, "count")).text);
	} else if (body) {
		separate(writing);
		write_repeats(writing, token);
		fputs("x { ", writing->out);
		writing->separate = false;
		writing->function = NULL;
		write_body(writing, body, depth + 1);
		fputs(" }", writing->out);
		writing->separate = true;
	} else {
		write_call(writing, token);
	}
}

static void write_body(struct writing *writing, const json_t *body, unsigned depth)
{
	const json_t *token;
	size_t i;

	json_array_foreach (body, i, token)
		if (depth < DEPTH_MAX)
			write_token(writing, token, depth);
	if (writing->dropped)
		fputs(writing->separate ? ", ..." : "...", writing->out);
	writing->dropped = false;
}

/* Ends a text that is longer than `most` bytes behind a word. */
static void text_cut(char *text, size_t most)
{
	size_t end = most - sizeof(" ...");

	if (strlen(text) <= most)
		return;
	while (end && text[end] != ' ')
		end--;
	strcpy(&text[end], " ...");
}

static void print_text(FILE *out, const json_t *structure)
{
	const json_t *body = json_object_get(structure, "text"), *token;
	struct writing writing = { .seconds = 0 };
	char *text = NULL;
	size_t size, i;

	json_array_foreach (body, i, token)
		writing.seconds += seconds_of(token);
	writing.out = open_memstream(&text, &size);
	if (!writing.out)
		return;
	write_body(&writing, body, 0);
	if (fclose(writing.out) == 0 && text) {
		text_cut(text,
				json_is_object(json_object_get(structure, "iteration")) ?
						TEXT_MAX :
						TEXT_SHORT);
		report_line(out, 2 * INDENT, "%*s%s", 2 * INDENT, "", text);
	}
	free(text);
}

struct format_text report_structure_rounds(const json_t *iteration)
{
	const json_t *rounds = json_object_get(iteration, "rank_rounds");
	double least = json_number_value(json_array_get(rounds, 0));
	double most = json_number_value(json_array_get(rounds, 1));
	double hidden = report_get(iteration, "hidden_rounds");
	struct format_text text;

	if (hidden > 0)
		snprintf(text.text, sizeof(text.text), "about %.0f",
				report_get(iteration, "rounds") + hidden);
	else if (least < most)
		snprintf(text.text, sizeof(text.text), "%.0f to %.0f", least, most);
	else
		snprintf(text.text, sizeof(text.text), "%.0f", report_get(iteration, "rounds"));
	return text;
}

char *report_structure_recurrence(const json_t *recurrence)
{
	const char *function = json_string_value(json_object_get(recurrence, "function"));
	double calls = report_get(recurrence, "mean_calls");
	char *name = strdup(function ? function : ""), *text = NULL;
	FILE *out;
	size_t size;

	out = json_is_object(recurrence) && name ? open_memstream(&text, &size) : NULL;
	if (out) {
		name_shorten(name, NAME_CHARS);
		fprintf(out, "%s%s%s comes back after about %.*f calls, ",
				report_get_text(recurrence, "call"), *name ? " in " : "", name,
				calls < FEW_CALLS, calls);
		fprintf(out, "%s more regularly than at random: about %.0f iterations of %s",
				format_whole_percent(report_get(recurrence, "likeness")).text,
				report_get(recurrence, "rounds"),
				format_seconds(report_get(recurrence, "mean_seconds")).text);
		if (fclose(out)) {
			free(text);
			text = NULL;
		}
	}
	free(name);
	return text;
}

/* Prints of how many calls the order is not known, behind what follows from it. */
static void print_unknown(FILE *out, const json_t *structure, const char *so)
{
	report_line(out, 2 * INDENT, "%*s%sthe order of %s of %s calls is not known", INDENT, "",
			so, format_count(report_get(structure, "unobserved_calls")).text,
			format_count(report_get(structure, "calls")).text);
}

/* Returns whether what is known of the structure is no more than pieces of it. */
static bool is_unknown(const json_t *structure)
{
	return !json_is_object(json_object_get(structure, "iteration")) &&
			report_get(structure, "unobserved_calls") >
			UNKNOWN_MAX * report_get(structure, "calls");
}

static void print_iteration(FILE *out, const json_t *structure)
{
	const json_t *iteration = json_object_get(structure, "iteration");
	const json_t *recurrence = json_object_get(structure, "recurrence");
	char *recurs = report_structure_recurrence(recurrence);
	double exact = report_get(structure, "exact_calls");

	if (json_is_object(iteration))
		report_line(out, 2 * INDENT, "%*s%s iterations of %s%s, with %s of the time",
				INDENT, "", report_structure_rounds(iteration).text,
				format_seconds(report_get(iteration, "mean_seconds")).text,
				phase_spread(report_get_in(iteration, "seconds", "mean"),
						report_get_in(iteration, "seconds", "sd"),
						report_get_in(iteration, "seconds", "least"),
						report_get_in(iteration, "seconds", "most"))
						.text,
				format_percent(report_get(iteration, "time_share")).text);
	else if (recurs)
		report_line(out, 2 * INDENT,
				"%*sno loop of calls has half of the time, but %s, with %s of the time",
				INDENT, "", recurs,
				format_percent(report_get(recurrence, "time_share")).text);
	else
		report_line(out, 2 * INDENT,
				"%*sno iteration: no loop of calls has half of the time", INDENT,
				"");
	if (report_get(structure, "unobserved_calls") > 0)
		print_unknown(out, structure, "");
	free(recurs);
	if (isfinite(exact))
		report_line(out, 2 * INDENT, "%*sexact up to call %.0f of each rank", INDENT, "",
				exact);
}

static void print_ranks(FILE *out, const json_t *structure, double all)
{
	double ranks = report_get(structure, "ranks"), first = report_get(structure, "first_rank");

	if (ranks == all)
		report_line(out, INDENT, "Structure of the calls of %s:",
				all > 1 ? "all ranks" : "the main thread");
	else if (ranks == 1)
		report_line(out, INDENT, "Structure of the calls of rank %.0f:", first);
	else
		report_line(out, INDENT,
				"Structure of the calls of %.0f ranks, of which the first is %.0f:",
				ranks, first);
}

void report_structure(FILE *out, const json_t *report)
{
	const json_t *structure = json_object_get(report, "structure"), *one;
	const json_t *list = json_object_get(structure, "structures");
	double left_out = report_get(structure, "left_out_ranks"), others = 0;
	bool shown = false;
	size_t i;

	if (!json_is_object(structure))
		return;
	json_array_foreach (list, i, one) {
		if (report_get(one, "calls") < CALLS_MIN * report_get(one, "ranks"))
			continue;
		if (i >= SHOWN_MAX) {
			others += report_get(one, "ranks");
			continue;
		}
		shown = true;
		print_ranks(out, one, report_get(report, "ranks"));
		if (is_unknown(one) && !json_is_object(json_object_get(one, "recurrence"))) {
			print_unknown(out, one, "no iteration is known: ");
			continue;
		}
		print_iteration(out, one);
		if (!is_unknown(one))
			print_text(out, one);
	}
	if (others > 0)
		report_line(out, INDENT, "The structures of %.0f more ranks are in report.json.",
				others);
	if (left_out > 0)
		report_line(out, INDENT, "The structures of %.0f ranks are not known.", left_out);
	if (shown || others > 0 || left_out > 0)
		fputc('\n', out);
}
