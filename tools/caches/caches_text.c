/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/caches/caches_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/text/format.h"
#include "agent/text/phase.h"
#include "agent/text/report_line.h"
#include "agent/text/statements.h"
#include "agent/whatif/answers.h"
#include "agent/whatif/caches.h"
#include "agent/whatif/sentences.h"

#define ASKED        2     /* how many times as large the cache is of which the words are */
#define GAIN_SHOWN   0.005 /* part of the computing time */
#define ERROR_SHOWN  0.005 /* half-width of a factor that two decimals show */
#define OTHER_WORK   0.05 /* part of the instructions of a burst that the second run may differ by */
#define SIZES_SHOWN  6
#define CELL_WIDTH   10
#define LABELS_WIDTH (REPORT_WIDTH - SIZES_SHOWN * CELL_WIDTH)

struct size_text {
	char text[32];
};

/* Returns a number of bytes with its unit, with as few digits as it has: "4 MiB". */
static struct size_text size_text(double bytes)
{
	struct size_text size;

	if (bytes >= 1 << 20)
		snprintf(size.text, sizeof(size.text), "%g MiB", bytes / (1 << 20));
	else
		snprintf(size.text, sizeof(size.text), "%g KiB", bytes / (1 << 10));
	return size;
}

static const json_t *phases_of(const struct run_times *run)
{
	return json_object_get(run->caches, "phases");
}

static double factor_of(const json_t *size)
{
	return report_get_in(size, "time_factor", "mean");
}

static double misses_of(const json_t *size)
{
	return report_get_in(size, "misses_per_1000_instructions", "mean");
}

/* ---- words ---- */

/* Prints wrapped lines. indent: of each line; they are freed. */
static void print_lines(FILE *out, char *lines, const char *indent, int continuation)
{
	char *rest = lines;

	for (char *line = strsep(&rest, "\n"); line && rest; line = strsep(&rest, "\n"))
		report_line(out, continuation, "%s%s", indent, line);
	free(lines);
}

/* Prints what the run would take with the cache of which the words are. */
static void print_answer(FILE *out, const struct run_times *run)
{
	static struct answers answers;
	const struct request request = { .kind = REQUEST_CACHE, .factor = ASKED };
	char why[256], *lines = NULL;
	size_t size;
	FILE *text;

	if (!answers_of_requests(&answers, run, &request, 1, why, sizeof(why)))
		return;
	text = open_memstream(&lines, &size);
	if (!text)
		return;
	sentences_answer(text, &answers);
	fclose(text);
	print_lines(out, lines, "", 0);
}

/* Returns the part of the computing time that a phase gains from the cache of which the words are. */
static double gain_of(const json_t *phase)
{
	return report_get(phase, "time_share") * (1 - factor_of(caches_size(phase, ASKED)));
}

/* Prints which phase gains most from the cache of which the words are. */
static void print_most(FILE *out, const struct run_times *run)
{
	const json_t *phase, *most = NULL, *was, *is;
	size_t i;

	json_array_foreach (phases_of(run), i, phase)
		if (caches_size(phase, ASKED) && (!most || gain_of(phase) > gain_of(most)))
			most = phase;
	was = caches_size(most, 1);
	is = caches_size(most, ASKED);
	if (!is)
		return;
	if (gain_of(most) < GAIN_SHOWN) {
		report_line(out, 4,
				"  No phase would save %g%% of the computing time with %s instead of %s.",
				100 * GAIN_SHOWN, size_text(report_get(is, "bytes")).text,
				size_text(report_get(was, "bytes")).text);
		return;
	}
	report_line(out, 4,
			"  Phase %.0f gains most: with %s of level %.0f cache for each core instead of %s, it "
			"would take %.2f times as long, and miss this cache %.2f times in 1000 "
			"instructions instead of %.2f times.",
			report_get(most, "id"), size_text(report_get(is, "bytes")).text,
			report_get(run->caches, "level"), size_text(report_get(was, "bytes")).text,
			factor_of(is), misses_of(is), misses_of(was));
}

/* ---- the table ---- */

static void print_head(FILE *out, const struct run_times *run)
{
	const json_t *sizes = json_object_get(json_array_get(phases_of(run), 0), "sizes"), *size;
	size_t i;

	fprintf(out, "\n%*slevel %.0f cache of each core (* as it is)\n", LABELS_WIDTH + 4, "",
			report_get(run->caches, "level"));
	fprintf(out, "%5s %8s %13s  %-*s", "phase", "of time", "recorded CPI", LABELS_WIDTH - 29,
			"");
	json_array_foreach (sizes, i, size)
		fprintf(out, "%*s%s", CELL_WIDTH - 1, size_text(report_get(size, "bytes")).text,
				report_get(size, "times") == 1      ? "*" :
						i + 1 < SIZES_SHOWN ? " " :
								      "");
	fputc('\n', out);
}

/* Prints a row of the numbers of a phase at each size. */
static void print_cells(FILE *out, const json_t *phase, const char *label, int decimals,
		double (*number)(const json_t *size))
{
	const json_t *size;
	size_t i;

	fprintf(out, "%-*s", LABELS_WIDTH - 29, label);
	json_array_foreach (json_object_get(phase, "sizes"), i, size)
		fprintf(out, "%*.*f%s", CELL_WIDTH - 1, decimals, number(size),
				i + 1 < SIZES_SHOWN ? " " : "");
	fputc('\n', out);
}

static double cpi_of(const json_t *size)
{
	return report_get(size, "cpi");
}

static double error_of(const json_t *size)
{
	return report_get_in(size, "time_factor", "ci95");
}

/* Returns the largest half-width of the factors of a phase. */
static double largest_error(const json_t *phase)
{
	const json_t *size;
	double largest = 0;
	size_t i;

	json_array_foreach (json_object_get(phase, "sizes"), i, size)
		largest = fmax(largest, error_of(size));
	return largest;
}

static void print_phase(FILE *out, const json_t *phase)
{
	double cpi = report_get(phase, "recorded_cpi");
	char recorded[24] = "-";

	if (isfinite(cpi))
		snprintf(recorded, sizeof(recorded), "%.3f", cpi);
	fprintf(out, "%5.0f %8s %13s  ", report_get(phase, "id"),
			format_percent(report_get(phase, "time_share")).text, recorded);
	print_cells(out, phase, "misses", 2, misses_of);
	fprintf(out, "%29s", "");
	print_cells(out, phase, "CPI", 3, cpi_of);
	fprintf(out, "%29s", "");
	print_cells(out, phase, "time", 2, factor_of);
	if (!(largest_error(phase) >= ERROR_SHOWN))
		return;
	fprintf(out, "%29s", "");
	print_cells(out, phase, "   +-", 2, error_of);
}

/* ---- what it rests on ---- */

/* Prints how far the bursts of both runs differ in instructions, if both counted them. */
static void print_work(FILE *out, const struct run_times *run)
{
	const json_t *phase;
	double most = -1, id = 0;
	size_t i;

	json_array_foreach (phases_of(run), i, phase) {
		double part = fabs(report_get(phase, "instructions") /
						report_get(phase, "recorded_instructions") -
				1);

		if (!(part > most))
			continue;
		most = part;
		id = report_get(phase, "id");
	}
	if (most < 0)
		return;
	report_line(out, 2, "Bursts have as many instructions as in the recorded run, within %s%s.",
			format_percent(most).text,
			most > OTHER_WORK ? ", which is not the same work" : "");
	if (most > OTHER_WORK)
		report_line(out, 2, "This is phase %.0f. Was COMMAND the same?", id);
}

/* Prints which phases the second run does not have, or which it has by the length of their bursts alone. */
static void print_matching(FILE *out, const struct run_times *run)
{
	const json_t *phase, *missing = json_object_get(run->caches, "missing"), *id;
	struct phase_smaller smaller = phase_smaller(phases_of(run));
	size_t i;

	json_array_foreach (phases_of(run), i, phase)
		if (strcmp(report_get_text(phase, "matched"), "place") != 0)
			report_line(out, 2,
					"Phase %.0f was found in the second run by the length of its bursts alone.",
					report_get(phase, "id"));
	json_array_foreach (missing, i, id) {
		int place = run_times_find(run, json_number_value(id));

		if (place >= 0 && phase_is_shown(run->phase[place].phase))
			report_line(out, 2,
					"Phase %.0f was not found in the second run, and takes as long as now.",
					json_number_value(id));
	}
	if (smaller.count)
		report_line(out, 2, "%u smaller phase%s in the JSON.", smaller.count,
				smaller.count == 1 ? " is" : "s are");
}

/* Prints that the second run was ended, if it was. */
static void print_stopped(FILE *out, const struct run_times *run)
{
	const json_t *stopped = json_object_get(run->caches, "stopped");

	if (json_is_object(stopped))
		report_line(out, 2,
				"The second run was ended after %s. The first accesses to data, which miss every "
				"cache, are a larger part of it than of the whole run.",
				format_seconds(report_get(stopped, "seconds")).text);
}

static void print_basis(FILE *out, const struct run_times *run)
{
	fputc('\n', out);
	report_line(out, 2,
			"misses: of this cache, in 1000 instructions. CPI: cycles per instruction of the core model. "
			"time: how many times as long the phase takes.");
	report_line(out, 2,
			"All of it is simulated, and nothing is measured. The core model is no real processor. It "
			"does not prefetch, so that a stream through memory gains more here than on one that does.");
	if (json_is_object(json_object_get(run->report, "emulated")))
		report_line(out, 2,
				"The recorded run was emulated, too: its times are those of the emulator, in which a phase "
				"that waits for memory has too small a share.");
	print_work(out, run);
	print_stopped(out, run);
	print_matching(out, run);
	report_line(out, 2,
			"phasemux whatif has --cache %d from now on, also together with other changes.",
			ASKED);
}

char *caches_text(const struct run_times *run)
{
	char *text = NULL, *command = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size), *line;
	const json_t *phase;
	size_t i;

	if (!out)
		return NULL;
	line = open_memstream(&command, &size);
	if (line) {
		statements_head[0].write(line, run->report);
		fclose(line);
		print_lines(out, command, "phasemux simulate: ", 4);
	}
	fprintf(out, "  %.0f %s, %s; run again in the emulated processor (core model %s)\n\n",
			run->ranks, phase_rank_word(run->report, run->ranks),
			format_seconds(run->wall).text, report_get_text(run->caches, "core"));
	print_answer(out, run);
	print_most(out, run);
	print_head(out, run);
	json_array_foreach (phases_of(run), i, phase)
		if (phase_is_shown(phase))
			print_phase(out, phase);
	print_basis(out, run);
	fclose(out);
	report_make_plain(text);
	return text;
}
