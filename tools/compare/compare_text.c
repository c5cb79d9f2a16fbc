/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/compare/compare_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/report_line.h"
#include "tools/compare/words.h"

#define BAR_WIDTH 20 /* columns of the longest bar */

static void print_side(FILE *out, const json_t *runs, const char *name)
{
	const json_t *first = json_array_get(runs, 0), *date = json_object_get(first, "date");
	size_t count = json_array_size(runs);

	fprintf(out, "  %-7s %.60s", name, words_path(first).text);
	if (count > 1)
		fprintf(out, " and %zu more", count - 1);
	if (json_is_string(date))
		fprintf(out, ", started %.20s", json_string_value(date));
	fprintf(out, "\n");
}

static void print_times(FILE *out, const json_t *comparison, const char *key, const char *name)
{
	const json_t *time = json_object_get(comparison, key);

	fprintf(out, "  %-26s %9s -> %9s   %s\n", name,
			words_value(report_get(time, "before"), WORDS_SECONDS).text,
			words_value(report_get(time, "after"), WORDS_SECONDS).text,
			words_change(time, WORDS_SECONDS).text);
}

/* Prints the parts of a difference, with a bar for each that is told apart. */
static void print_causes(FILE *out, const json_t *causes)
{
	double most = 0;
	const json_t *cause;
	size_t i;

	json_array_foreach (causes, i, cause)
		most = fmax(most, fabs(report_get(cause, "seconds")));
	json_array_foreach (causes, i, cause) {
		double seconds = report_get(cause, "seconds");
		int bar = most > 0 ? (int)lround(BAR_WIDTH * fabs(seconds) / most) : 0;

		if (json_is_false(json_object_get(cause, "told_apart")))
			bar = 0;
		fprintf(out, "  %-32.32s %-*s", words_cause(cause).text, bar ? 36 : 0,
				words_part(cause).text);
		for (int k = 0; k < bar; k++)
			fputc(seconds < 0 ? '-' : '+', out);
		fputc('\n', out);
	}
}

static void print_row(FILE *out, const char *name, int indent, const json_t *change,
		enum words_unit unit)
{
	double before = report_get(change, "before"), after = report_get(change, "after");

	if (!isfinite(before) && !isfinite(after))
		return;
	fprintf(out, "%*s%-*.*s %10s %10s   %s\n", indent, "", 36 - indent, 36 - indent, name,
			words_value(before, unit).text, words_value(after, unit).text,
			words_change(change, unit).text);
}

/* Prints the parts of a phase's difference that are told apart. */
static void print_parts(FILE *out, const json_t *causes)
{
	char line[1024] = "";
	const json_t *cause;
	size_t i;

	json_array_foreach (causes, i, cause) {
		size_t used = strlen(line);

		if (words_part_is_shown(cause))
			snprintf(line + used, sizeof(line) - used, "%s%s %s", used ? "; " : "",
					words_cause(cause).text, words_part(cause).text);
	}
	if (*line)
		report_line(out, 7, "    because of %s", line);
}

static void print_phase(FILE *out, const json_t *phase)
{
	struct words before = words_ids(json_object_get(phase, "before"));
	struct words after = words_ids(json_object_get(phase, "after"));
	const char *status = report_get_text(phase, "status");
	const json_t *component;
	char name[96];
	size_t i;

	if (strcmp(status, "both") == 0)
		snprintf(name, sizeof(name), "%.30s (was %.30s)", after.text, before.text);
	else
		snprintf(name, sizeof(name), "%.30s %s", *after.text ? after.text : before.text,
				strcmp(status, "new") == 0 ? "is new" : "(before) has vanished");
	fprintf(out, "\nPhase %-30s ", name);
	fprintf(out, "%10s %10s   %s\n", words_time(phase, "before").text,
			words_time(phase, "after").text,
			words_change(json_object_get(phase, "seconds"), WORDS_SECONDS).text);
	if (json_is_string(json_object_get(phase, "from")))
		report_line(out, 7, "    from %s", report_get_text(phase, "from"));
	if (json_is_string(json_object_get(phase, "to")))
		report_line(out, 7, "    to %s", report_get_text(phase, "to"));
	if (*words_matched(phase))
		report_line(out, 4, "    %s", words_matched(phase));
	if (strcmp(status, "both") != 0)
		return;
	print_parts(out, json_object_get(phase, "causes"));
	for (const struct words_row *row = words_rows; row->name; row++)
		print_row(out, row->name, 4, json_object_get(phase, row->key), row->unit);
	json_array_foreach (json_object_get(phase, "cpi_breakdown"), i, component) {
		bool inner = json_integer_value(json_object_get(component, "level")) > 0;

		if (words_component_is_shown(component))
			print_row(out, report_get_text(component, "component"), inner ? 8 : 6,
					component, WORDS_CPI);
	}
}

static void print_phases(FILE *out, const json_t *comparison)
{
	const json_t *phase;
	double smaller = 0;
	unsigned count = 0;
	size_t i;

	fprintf(out, "\nPhases, with the computing time of a thread in the mean:\n");
	json_array_foreach (json_object_get(comparison, "phases"), i, phase) {
		double change = report_get_in(phase, "seconds", "difference");

		if (words_is_shown(comparison, phase)) {
			print_phase(out, phase);
			continue;
		}
		count++;
		smaller += isfinite(change) ? change : 0;
	}
	if (count)
		fprintf(out, "\n%u smaller phase%s: %s%s\n", count, count == 1 ? "" : "s",
				smaller > 0 ? "+" : "", words_value(smaller, WORDS_SECONDS).text);
}

char *compare_text(const json_t *comparison)
{
	const json_t *note;
	char *text = NULL;
	size_t size, i;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	fprintf(out, "phasemux compare\n");
	print_side(out, json_object_get(comparison, "before"), "before");
	print_side(out, json_object_get(comparison, "after"), "after");
	fprintf(out, "\n%s\n\n", words_verdict(comparison).text);
	print_times(out, comparison, "wall_seconds", "wall time");
	print_times(out, comparison, "useful_seconds", "computing time of a thread");
	fprintf(out, "\nWhat the difference of the wall time comes from:\n");
	print_causes(out, json_object_get(comparison, "causes"));
	print_phases(out, comparison);
	if (json_array_size(json_object_get(comparison, "notes")))
		fputc('\n', out);
	json_array_foreach (json_object_get(comparison, "notes"), i, note)
		report_line(out, 2, "- %s", json_string_value(note));
	fclose(out);
	report_make_plain(text);
	return text;
}
