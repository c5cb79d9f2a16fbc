/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/text/when.h"

#include <math.h>

#include "agent/text/format.h"
#include "agent/text/report_line.h"

#define BINS_MAX 256
#define BINS_FEW 16    /* bins of a run below which parts of it are not told apart */
#define LEFT_OUT 0.025 /* part of its time that may be before, and after */
#define PART_MAX 0.5   /* largest part of the run that is worth a line */
#define AT_END   0.02  /* part of the run that may be missing at its start or end */

/* Adds the time of the phase in each bin of a group. */
static void add_group(const json_t *group, double id, double *seconds, unsigned bins)
{
	const json_t *phase;
	size_t i;

	json_array_foreach (json_object_get(group, "phases"), i, phase)
		for (unsigned b = 0; b < bins && report_get(phase, "id") == id; b++)
			seconds[b] += fmax(
					json_number_value(json_array_get(
							json_object_get(phase, "microseconds"), b)),
					0);
}

/* Returns the first bin up to which more than a part of the time lies. */
static unsigned find_bin(const double *seconds, unsigned bins, double part)
{
	double all = 0, sum = 0;

	for (unsigned b = 0; b < bins; b++)
		all += seconds[b];
	for (unsigned b = 0; b < bins; b++) {
		sum += seconds[b];
		if (sum > part * all)
			return b;
	}
	return bins - 1;
}

bool phase_write_when(FILE *out, const json_t *report, const json_t *phase)
{
	const json_t *timeline = json_object_get(report, "timeline"), *group;
	double bin = report_get(timeline, "bin_seconds") / report_get(timeline, "seconds");
	double seconds[BINS_MAX] = { 0 }, from, until, part;
	unsigned bins = (unsigned)fmin(fmax(report_get(timeline, "bins"), 0), BINS_MAX);
	size_t i;

	if (bins < BINS_FEW || !(bin > 0))
		return false;
	json_array_foreach (json_object_get(timeline, "groups"), i, group)
		add_group(group, report_get(phase, "id"), seconds, bins);
	from = find_bin(seconds, bins, LEFT_OUT) * bin;
	until = fmin((find_bin(seconds, bins, 1 - LEFT_OUT) + 1) * bin, 1);
	part = until - from;
	if (!(part > 0) || part > PART_MAX || !(seconds[find_bin(seconds, bins, LEFT_OUT)] > 0))
		return false;
	fprintf(out, "%s of its time is ", format_whole_percent(1 - 2 * LEFT_OUT).text);
	if (from <= AT_END)
		fprintf(out, "in the first %s of the run", format_percent(until).text);
	else if (until >= 1 - AT_END)
		fprintf(out, "in the last %s of the run", format_percent(1 - from).text);
	else
		fprintf(out, "between %s and %s of the run", format_percent(from).text,
				format_percent(until).text);
	return true;
}
