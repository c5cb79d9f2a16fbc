#include "cluster/filter.h"

#include <stdlib.h>

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

double filter_shortest(double *duration, size_t count, double share)
{
	double total = 0, kept = 0;
	size_t i;

	for (i = 0; i < count; i++)
		total += duration[i];
	qsort(duration, count, sizeof(*duration), descending);
	for (i = 0; i < count; i++) {
		kept += duration[i];
		if (kept >= share * total)
			break;
	}
	/* rounding may leave the sum a little short of all */
	return !count ? 0 : duration[i < count ? i : count - 1];
}
