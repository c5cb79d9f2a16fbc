/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/timeline/placing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMPUTE_COLUMNS (TIMELINE_OTHER + 1)
#define FITS            16 /* rounds of scaling, after which bins differ by less than what is shown */

/* Weight of a phase with time left in a bin where none of its time is known. */
#define ELSEWHERE 0.001

#define NEAR_WEIGHT 0.1 /* of a bin beside another one, and so on with the next one */

/* The computing time that is placed, in seconds. */
struct placing {
	unsigned bins;
	double cell[TIMELINE_BINS][COMPUTE_COLUMNS];
	double near[TIMELINE_BINS]
		   [COMPUTE_COLUMNS];  /* what is known of a bin and those around it */
	double unknown[TIMELINE_BINS]; /* whose column is not known */
	double bin[TIMELINE_BINS];     /* all computing time of each bin */
	double column[COMPUTE_COLUMNS];
};

static double ticks_of(const _Atomic uint64_t *count)
{
	return (double)atomic_load_explicit(count, memory_order_relaxed);
}

static unsigned column_of(const struct timeline_labels *labels, unsigned number)
{
	return number <= PROTOTYPES_MAX && labels->column[number - 1] ?
			labels->column[number - 1] - 1u :
			TIMELINE_OTHER;
}

/* Reads what is known of a bin. Returns the seconds of rests. */
static double read_bin(const struct timeline_bin *bin, const struct timeline_labels *labels,
		double seconds, struct placing *placing, unsigned i)
{
	for (unsigned k = 0; k < TIMELINE_PLACES; k++) {
		unsigned number = atomic_load_explicit(&bin->prototype[k], memory_order_relaxed);

		if (number)
			placing->cell[i][column_of(labels, number)] +=
					seconds * ticks_of(&bin->ticks[k]);
	}
	placing->cell[i][TIMELINE_OTHER] += seconds * ticks_of(&bin->kind_ticks[TIMELINE_NO_PHASE]);
	placing->unknown[i] = seconds *
			(ticks_of(&bin->kind_ticks[TIMELINE_REST]) +
					ticks_of(&bin->kind_ticks[TIMELINE_UNPLACED]));
	return seconds * ticks_of(&bin->kind_ticks[TIMELINE_RESTED]);
}

static double sum_row(const struct placing *placing, unsigned bin)
{
	double sum = 0;

	for (unsigned c = 0; c < COMPUTE_COLUMNS; c++)
		sum += placing->cell[bin][c];
	return sum;
}

static double sum_column(const struct placing *placing, unsigned column)
{
	double sum = 0;

	for (unsigned b = 0; b < placing->bins; b++)
		sum += placing->cell[b][column];
	return sum;
}

/* Sets the time of each column in the whole run. */
static void set_columns(const struct timeline_of_process *process,
		const struct timeline_labels *labels, struct placing *placing)
{
	double phases = 0;

	for (uint32_t p = 0; p < process->prototypes; p++)
		if (labels->column[p]) {
			placing->column[labels->column[p] - 1] += process->seconds[p];
			phases += process->seconds[p];
		}
	placing->column[TIMELINE_OTHER] = fmax(process->compute - phases, 0);
}

/* Adds to what is known near a bin a part of what is near the bin beside it. */
static void take_near(struct placing *placing, unsigned bin, unsigned beside,
		double carried[COMPUTE_COLUMNS])
{
	for (unsigned c = 0; c < COMPUTE_COLUMNS; c++) {
		carried[c] = NEAR_WEIGHT * (carried[c] + placing->cell[beside][c]);
		placing->near[bin][c] += carried[c];
	}
}

/* Sets for each bin what is known of it and, with less weight the farther they are, of all others. */
static void find_near(struct placing *placing)
{
	double before[COMPUTE_COLUMNS] = { 0 }, behind[COMPUTE_COLUMNS] = { 0 };

	memcpy(placing->near, placing->cell, sizeof(placing->near));
	for (unsigned b = 1; b < placing->bins; b++)
		take_near(placing, b, b - 1, before);
	for (unsigned b = placing->bins; b-- > 1;)
		take_near(placing, b - 1, b, behind);
}

/* Gives what is not known in each bin to the columns that have time left. */
static void give_unknown(struct placing *placing)
{
	double left[COMPUTE_COLUMNS], all = 0;

	find_near(placing);
	for (unsigned c = 0; c < COMPUTE_COLUMNS; c++) {
		left[c] = fmax(placing->column[c] - sum_column(placing, c), 0);
		all += left[c];
	}
	for (unsigned b = 0; b < placing->bins; b++) {
		double weight[COMPUTE_COLUMNS], weights = 0, near = 0;

		for (unsigned c = 0; c < COMPUTE_COLUMNS; c++)
			near += placing->near[b][c];
		for (unsigned c = 0; c < COMPUTE_COLUMNS; c++) {
			weight[c] = (all > 0 ? left[c] : placing->column[c]) *
					((near > 0 ? placing->near[b][c] / near : 1) + ELSEWHERE);
			weights += weight[c];
		}
		for (unsigned c = 0; c < COMPUTE_COLUMNS && weights > 0; c++)
			placing->cell[b][c] += placing->unknown[b] * weight[c] / weights;
	}
}

static void scale_bins(struct placing *placing)
{
	for (unsigned b = 0; b < placing->bins; b++) {
		double sum = sum_row(placing, b);

		for (unsigned c = 0; c < COMPUTE_COLUMNS && sum > 0; c++)
			placing->cell[b][c] *= placing->bin[b] / sum;
	}
}

/* A column without time in any bin is spread like all computing time. */
static void scale_columns(struct placing *placing, double all)
{
	for (unsigned c = 0; c < COMPUTE_COLUMNS; c++) {
		double sum = sum_column(placing, c);

		for (unsigned b = 0; b < placing->bins; b++)
			if (sum > 0)
				placing->cell[b][c] *= placing->column[c] / sum;
			else if (all > 0)
				placing->cell[b][c] = placing->column[c] * placing->bin[b] / all;
	}
}

static void fit(struct placing *placing)
{
	double all = 0;

	for (unsigned b = 0; b < placing->bins; b++)
		all += placing->bin[b];
	give_unknown(placing);
	for (unsigned i = 0; i < FITS; i++) {
		scale_bins(placing);
		scale_columns(placing, all);
	}
}

/* Returns the part of the rests in which the rank computed, by the computing time that no other part of a bin has. */
static double rest_share(const struct placing *placing, double observed, double rested)
{
	double all = 0;

	for (unsigned c = 0; c < COMPUTE_COLUMNS; c++)
		all += placing->column[c];
	return rested > 0 ? fmin(fmax((all - observed) / rested, 0), 1) : 0;
}

/* Reads the bins of a process, and what its columns have. rest: receives the seconds of rests in each bin that are calls. */
static void read_process(const struct timeline_of_process *process,
		const struct timeline_labels *labels, struct placing *placing, double *rest)
{
	double tick = process->ns_per_tick * 1e-9, observed = 0, rested = 0, share;

	placing->bins = atomic_load_explicit(&process->timeline.used, memory_order_relaxed);
	set_columns(process, labels, placing);
	for (unsigned b = 0; b < placing->bins; b++) {
		rest[b] = read_bin(&process->timeline.bin[b], labels, tick, placing, b);
		placing->bin[b] = sum_row(placing, b) + placing->unknown[b];
		observed += placing->bin[b];
		rested += rest[b];
	}
	share = rest_share(placing, observed, rested);
	for (unsigned b = 0; b < placing->bins; b++) {
		placing->unknown[b] += share * rest[b];
		placing->bin[b] += share * rest[b];
		rest[b] *= 1 - share;
	}
}

bool timeline_place(const struct timeline_of_process *process, const struct timeline_labels *labels,
		timeline_seconds seconds)
{
	struct placing *placing = calloc(1, sizeof(*placing));
	double tick = process->ns_per_tick * 1e-9, rest[TIMELINE_BINS];

	if (!placing)
		return false;
	memset(seconds, 0, sizeof(timeline_seconds));
	read_process(process, labels, placing, rest);
	fit(placing);
	for (unsigned b = 0; b < placing->bins; b++) {
		const struct timeline_bin *bin = &process->timeline.bin[b];

		for (unsigned c = 0; c < COMPUTE_COLUMNS; c++)
			seconds[b][c] = (float)placing->cell[b][c];
		seconds[b][TIMELINE_IN_CALLS] =
				(float)(tick * ticks_of(&bin->kind_ticks[TIMELINE_CALLS]) +
						rest[b]);
		seconds[b][TIMELINE_OFF] =
				(float)(tick * ticks_of(&bin->kind_ticks[TIMELINE_UNOBSERVED]));
	}
	free(placing);
	return true;
}
