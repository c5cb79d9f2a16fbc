/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of each rank in each phase, of which a report has the sum of each rank, and of each phase the mean, the most and
 * the slowest rank. The rest is estimated by iterative proportional fitting (Deming and Stephan 1940): the table with these
 * sums that is nearest to one in which all ranks divide their time alike. With two ranks it is exact.
 */
#ifndef PHASEMUX_AGENT_WHATIF_RANKS_H
#define PHASEMUX_AGENT_WHATIF_RANKS_H

#include <stddef.h>

#define RANKS_NONE ((size_t)-1)

/* What is known of one phase, in seconds. */
struct ranks_column {
	double mean;    /* over all rows */
	double most;    /* no row has more */
	size_t slowest; /* row that has `most`; RANKS_NONE: not known */
};

/*
 * Fills cell[row * (columns + 1) + column], in seconds. The last column is what a row has outside of all phases. sum: of each
 * row. weight: part of the ranks that each row stands for; all weights sum to 1.
 */
void ranks_fit(double *cell, size_t rows, const double *sum, const double *weight, size_t columns,
		const struct ranks_column *column);

#endif
