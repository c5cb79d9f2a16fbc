/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/report_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"
#include "agent/text/report_phases.h"
#include "agent/text/report_structure.h"
#include "agent/text/statements.h"

/* Prints the lines of a statement. before: in front of each; indent: of the lines that a long one goes on in. */
static void print_statement(FILE *out, const struct statement *statement, const json_t *report,
		const char *before, int indent)
{
	char *text = NULL, *rest;
	size_t size;
	FILE *lines = open_memstream(&text, &size);

	if (!lines)
		return;
	statement->write(lines, report);
	if (fclose(lines) == 0 && text) {
		rest = text;
		for (char *line = strsep(&rest, "\n"); rest; line = strsep(&rest, "\n"))
			report_line(out, indent, "%s%s", before, line);
	}
	free(text);
}

static void print_head(FILE *out, const json_t *report)
{
	for (const struct statement *one = statements_head; one->name; one++)
		print_statement(out, one, report, one == statements_head ? "phasemux: " : "  ", 4);
	fputc('\n', out);
}

static void print_foot(FILE *out, const json_t *report)
{
	for (const struct statement *one = statements_foot; one->name; one++)
		print_statement(out, one, report, "", 2);
}

bool report_is_valid(const json_t *report, char *why, size_t why_size)
{
	const json_t *phases = json_object_get(report, "phases"), *phase;
	double version = report_get(report, "phasemux");
	bool whole = json_is_array(phases);
	size_t i;

	json_array_foreach (phases, i, phase)
		whole = whole && isfinite(report_get(phase, "id")) &&
				isfinite(report_get(phase, "time_share")) &&
				json_is_object(json_object_get(phase, "counters"));
	if (version == 1 && whole)
		return true;
	if (isfinite(version) && version != 1)
		snprintf(why, why_size, "a report of version %g; this phasemux reads version 1",
				version);
	else
		snprintf(why, why_size, "not a report of phasemux");
	return false;
}

/* Returns what print() writes of a report, to be freed. NULL: why[] says why there is nothing. */
static char *print_to_memory(void (*print)(FILE *out, const json_t *report), const json_t *report,
		char *why, size_t why_size)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!report_is_valid(report, why, why_size))
		return NULL;
	out = open_memstream(&text, &size);
	if (!out) {
		snprintf(why, why_size, "no memory");
		return NULL;
	}
	print(out, report);
	fclose(out);
	report_make_plain(text);
	return text;
}

static void print_text(FILE *out, const json_t *report)
{
	print_head(out, report);
	report_phases(out, report);
	report_structure(out, report);
	print_foot(out, report);
}

char *report_text(const json_t *report, char *why, size_t why_size)
{
	return print_to_memory(print_text, report, why, why_size);
}

static void print_csv(FILE *out, const json_t *report)
{
	const json_t *phase;
	json_t *counter;
	const char *name;
	size_t i;

	fputs("phase,time_share,bursts,counter,mean,ci95,observed\n", out);
	json_array_foreach (json_object_get(report, "phases"), i, phase)
		json_object_foreach (json_object_get(phase, "counters"), name, counter)
			fprintf(out, "%.0f,%.9g,%.0f,%s,%.17g,%.9g,%.0f\n", report_get(phase, "id"),
					report_get(phase, "time_share"),
					report_get(phase, "bursts"), name,
					report_get(counter, "mean"), report_get(counter, "ci95"),
					report_get(counter, "observed"));
}

char *report_csv(const json_t *report, char *why, size_t why_size)
{
	return print_to_memory(print_csv, report, why, why_size);
}
