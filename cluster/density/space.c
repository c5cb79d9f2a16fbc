/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/density/space.h"

#include <math.h>

/* Returns the metric before it is scaled; not finite if it has no place in the space. */
static double raw(const struct space *space, uint32_t dim, double metric)
{
	if (space->logarithmic[dim])
		return metric > 0 ? log10(metric) : NAN;
	return metric;
}

bool space_place(const struct space *space, const double *metrics, double *point)
{
	for (uint32_t dim = 0; dim < space->dims; dim++) {
		double value = raw(space, dim, metrics[dim]);

		if (!isfinite(value))
			return false;
		point[dim] = (value - space->lowest[dim]) / space->range[dim] * space->weight[dim];
	}
	return true;
}

bool space_map(const struct space *space, const double *metrics, float *point)
{
	double exact[SPACE_DIMS_MAX];

	if (!space_place(space, metrics, exact))
		return false;
	for (uint32_t dim = 0; dim < space->dims; dim++)
		point[dim] = (float)exact[dim];
	return true;
}

size_t space_fit(struct space *space, const double *metrics, size_t count, bool keep)
{
	double low[SPACE_DIMS_MAX], high[SPACE_DIMS_MAX];
	size_t placed = 0;

	for (uint32_t dim = 0; dim < space->dims; dim++) {
		low[dim] = keep ? space->lowest[dim] : INFINITY;
		high[dim] = keep ? space->lowest[dim] + space->range[dim] : -INFINITY;
	}
	for (size_t i = 0; i < count; i++, metrics += space->dims) {
		double value[SPACE_DIMS_MAX];
		bool finite = true;

		for (uint32_t dim = 0; dim < space->dims; dim++) {
			value[dim] = raw(space, dim, metrics[dim]);
			finite = finite && isfinite(value[dim]);
		}
		if (!finite)
			continue;
		placed++;
		for (uint32_t dim = 0; dim < space->dims; dim++) {
			low[dim] = fmin(low[dim], value[dim]);
			high[dim] = fmax(high[dim], value[dim]);
		}
	}
	if (!placed)
		return 0;
	for (uint32_t dim = 0; dim < space->dims; dim++) {
		/* subnormal ranges would make the scaled values overflow */
		bool flat = !isnormal(high[dim] - low[dim]);

		space->lowest[dim] = low[dim];
		space->range[dim] = flat ? 1 : high[dim] - low[dim];
	}
	return placed;
}

void space_widen(struct space *space)
{
	for (uint32_t dim = 0; dim < space->dims; dim++) {
		double high = space->lowest[dim] + space->range[dim];
		double least = space->logarithmic[dim] ?
				SPACE_DECADES_MIN :
				SPACE_SHARE_MIN * fmax(fabs(space->lowest[dim]), fabs(high));

		if (space->range[dim] < least)
			space->range[dim] = least;
	}
}
