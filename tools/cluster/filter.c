/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/cluster/filter.h"

#include <stdlib.h>

#include "cluster/density/sort.h"

#define LENGTH_GAP                                                                                 \
	0.9        /* bursts shorter than this share of the next longer one are of another kind */
#define LOWEST 0.5 /* factor by which the threshold may be lowered to a gap */

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Returns the last duration before the next gap from i on, or that of i if no gap is near. */
static double down_to_gap(const double *duration, size_t count, size_t i)
{
	for (size_t at = i; duration[at] >= LOWEST * duration[i]; at++)
		if (at + 1 == count || duration[at + 1] < LENGTH_GAP * duration[at])
			return duration[at];
	return duration[i];
}

double filter_shortest(double *duration, size_t count, double share)
{
	double total = 0, kept = 0;
	size_t i;

	for (i = 0; i < count; i++)
		total += duration[i];
	sort_items(duration, count, sizeof(*duration), descending);
	for (i = 0; i < count; i++) {
		kept += duration[i];
		if (kept >= share * total)
			break;
	}
	if (!count)
		return 0;
	/* by rounding the sum may be a little less than the total */
	i = i < count ? i : count - 1;
	return down_to_gap(duration, count, i);
}
