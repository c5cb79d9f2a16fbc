/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/report_phases.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/symbols/name.h"
#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/place.h"
#include "agent/text/report_line.h"
#include "agent/text/when.h"

#define BAR_WIDTH 40
#define INDENT    6 /* columns before the lines under a phase */

/* Share of the first pair of places below which a second pair is shown. */
#define PLACE_ENOUGH 0.5

/* ---- where it is ---- */

/* Returns the text of place_end, shortened to at most `room` columns. */
static struct place_text fit_end(const json_t *pair, const char *key, int room)
{
	struct place_text text = place_end(pair, key, PLACE_NAME_MAX);

	for (size_t most = PLACE_NAME_MAX; (int)strlen(text.text) > room && most > 16; most -= 8)
		text = place_end(pair, key, most);
	name_shorten(text.text, (size_t)room);
	return text;
}

/* Prints both ends of a pair and its share, on two lines if they do not fit into one. */
static void print_pair(FILE *out, const json_t *pair, const char *word)
{
	struct format_text share = format_whole_percent(report_get(pair, "share"));
	int before = INDENT + (int)strlen(word) + (*word != '\0');
	int room = REPORT_WIDTH - before - (int)strlen("from ") - (int)strlen(share.text) - 3;
	struct place_text from = fit_end(pair, "from", room), to = fit_end(pair, "to", room);

	if (!*from.text)
		strcpy(from.text, "another call");
	if (!*to.text)
		strcpy(to.text, "another call");
	fprintf(out, "%*s%s%sfrom %s", INDENT, "", word, *word ? " " : "", from.text);
	if ((int)(strlen(from.text) + strlen(to.text) + strlen(" to ")) > room)
		fprintf(out, "\n%*sto   %s (%s)\n", before, "", to.text, share.text);
	else
		fprintf(out, " to %s (%s)\n", to.text, share.text);
}

/* Prints the calls between which most of the phase's time was spent. */
static void print_ends(FILE *out, const json_t *phase)
{
	const json_t *source = json_object_get(phase, "source");
	const json_t *first = json_array_get(source, 0), *second = json_array_get(source, 1);

	if (first && place_known(first))
		print_pair(out, first, "");
	else if (!json_array_size(json_object_get(json_object_get(phase, "profile"), "functions")))
		fprintf(out, "%*splace not known\n", INDENT, "");
	if (second && place_known(second) && report_get(first, "share") < PLACE_ENOUGH)
		print_pair(out, second, "also");
}

/* ---- what was counted ---- */

static void print_bar(FILE *out, double part)
{
	int length = (int)lround(fmin(fmax(part, 0), 1) * BAR_WIDTH);

	if (length > 0)
		fputs("  ", out);
	while (length-- > 0)
		fputc('#', out);
	fputc('\n', out);
}

static void print_component(FILE *out, const json_t *component, double cpi)
{
	int level = (int)json_integer_value(json_object_get(component, "level"));
	struct phase_component text = phase_component(component, cpi);

	fprintf(out, "      %*s%-*s", 2 * level, "", 26 - 2 * level,
			report_get_text(component, "component"));
	if (!isfinite(report_get(component, "cpi"))) {
		fprintf(out, "  %s\n", text.value.text);
		return;
	}
	if (!phase_component_known(component)) {
		fprintf(out, " %7s    %-6s %6s\n", text.value.text, "", "");
		return;
	}
	fprintf(out, " %7s %-9s %6s", text.value.text, text.interval.text, text.share.text);
	print_bar(out, report_get(component, "cpi") / cpi);
}

/* Prints the components that sum to the CPI, each with its interval, its share and a bar. */
static void print_breakdown(FILE *out, const json_t *phase)
{
	const json_t *component;
	double cpi = report_get(phase, "cpi");
	size_t i;

	if (!phase_has_breakdown(phase)) {
		fprintf(out, "      CPI %.3f; too few bursts of each group for a breakdown\n", cpi);
		return;
	}
	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component)
		print_component(out, component, cpi);
}

/* Prints the mean of each counter per burst, if there is no CPI. */
static void print_counters(FILE *out, const json_t *phase)
{
	const json_t *counters = json_object_get(phase, "counters");
	const char *name;
	json_t *value;

	json_object_foreach ((json_t *)counters, name, value) {
		fprintf(out, "      %-26s ", name);
		phase_write_counter(out, name, value, phase_unit(phase), 9);
		fputc('\n', out);
	}
}

/* Prints the intervals of the phase's share, number of bursts and mean, under these, if they are estimates. */
static void print_intervals(FILE *out, const json_t *phase)
{
	struct phase_intervals intervals = phase_intervals(phase);

	if (intervals.visible)
		fprintf(out, "       %6s  %9s  %9s\n", intervals.share.text, intervals.bursts.text,
				intervals.mean.text);
}

/* Prints, under the phase, what a function of phase.h has written to `words`, and empties `words`. */
static void print_words(FILE *out, FILE *words, char **text, int indent)
{
	fputc('\0', words);
	if (fflush(words) == 0 && **text)
		report_line(out, indent, "      %s", *text);
	rewind(words);
}

/* Prints in what the phase differs from others, and where it was sampled. */
static void print_where(FILE *out, const json_t *report, const json_t *phase)
{
	double read_seconds = report_get_in(report, "agent", "read_seconds");
	char *text = NULL;
	size_t size;
	FILE *words = open_memstream(&text, &size);

	if (!words)
		return;
	phase_write_apart(words, json_object_get(report, "phases"), phase);
	print_words(out, words, &text, INDENT);
	phase_write_ranks(words, report, phase);
	print_words(out, words, &text, INDENT + 3);
	phase_write_efficiency(words, phase);
	print_words(out, words, &text, INDENT);
	phase_write_iteration(words, phase);
	print_words(out, words, &text, INDENT);
	phase_write_drift(words, phase);
	print_words(out, words, &text, INDENT);
	phase_write_when(words, report, phase);
	print_words(out, words, &text, INDENT);
	phase_write_slices(words, phase);
	print_words(out, words, &text, INDENT);
	phase_write_reads(words, phase, read_seconds);
	print_words(out, words, &text, INDENT);
	phase_write_hot(words, phase, false);
	print_words(out, words, &text, INDENT + 3);
	phase_write_hot(words, phase, true);
	print_words(out, words, &text, INDENT + 3);
	fclose(words);
	free(text);
}

static void print_phase(FILE *out, const json_t *report, const json_t *phase)
{
	double ipc = phase_ipc(phase);

	fprintf(out, "%5.0f  %6s  %9s  %9s", report_get(phase, "id"),
			format_percent(report_get(phase, "time_share")).text,
			format_count(report_get(phase, "bursts")).text,
			format_seconds(phase_mean_seconds(phase)).text);
	if (isfinite(ipc))
		fprintf(out, "  %9s  %6.2f", format_count(phase_instructions(phase)).text, ipc);
	fputc('\n', out);
	print_intervals(out, phase);
	print_ends(out, phase);
	print_where(out, report, phase);
	if (json_array_size(json_object_get(phase, "cpi_breakdown")))
		print_breakdown(out, phase);
	else
		print_counters(out, phase);
}

void report_phases(FILE *out, const json_t *report)
{
	const json_t *phases = json_object_get(report, "phases"), *phase;
	struct phase_smaller smaller = phase_smaller(phases);
	size_t i;

	fprintf(out, "phase    time     bursts       mean%s\n",
			json_is_null(json_object_get(report, "without_counters")) ?
					"     instr.     IPC" :
					"");
	json_array_foreach (phases, i, phase)
		if (phase_is_shown(phase))
			print_phase(out, report, phase);
	if (smaller.count)
		fprintf(out, "       %6s  in %u smaller phase%s\n",
				format_percent(smaller.share).text, smaller.count,
				smaller.count == 1 ? "" : "s");
	if (!i)
		fprintf(out, "       none: the run was too short, or no burst was long enough\n");
	fputc('\n', out);
}
