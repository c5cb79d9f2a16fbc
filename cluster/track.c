/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/track.h"

#include <math.h>

void track_match(double *overlap, size_t news, size_t olds, double least, int32_t *match)
{
	for (size_t i = 0; i < news; i++)
		match[i] = -1;
	for (;;) {
		size_t best = 0;

		for (size_t pair = 1; pair < news * olds; pair++)
			if (overlap[pair] > overlap[best])
				best = pair;
		if (!news || !olds || !(overlap[best] > least))
			return;
		match[best / olds] = (int32_t)(best % olds);
		for (size_t i = 0; i < news; i++)
			overlap[i * olds + best % olds] = least;
		for (size_t j = 0; j < olds; j++)
			overlap[best / olds * olds + j] = least;
	}
}

double track_likeness(const struct outline *a, const struct outline *b, uint32_t dims,
		double margin)
{
	double distance = 0, ratio;

	for (uint32_t dim = 0; dim < dims; dim++) {
		double apart = (a->low[dim] + a->high[dim] - b->low[dim] - b->high[dim]) / 2;

		if (a->low[dim] - b->high[dim] > margin || b->low[dim] - a->high[dim] > margin)
			return 0;
		distance += apart * apart;
	}
	ratio = a->time_share < b->time_share ? a->time_share / b->time_share :
						b->time_share / a->time_share;
	if (!(ratio > 0))
		return 0;
	/* the fourth root, because a phase may well take longer in another run */
	return sqrt(sqrt(ratio)) / (1 + 9 * distance / (margin * margin));
}

size_t track_steady(const double *kept, size_t count, double least)
{
	size_t steps = 0;

	while (steps < count && kept[count - 1 - steps] >= least)
		steps++;
	return steps;
}
