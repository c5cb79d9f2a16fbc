/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows phases from one result to the next (online structure detection, slides 9 and 10; thesis
 * A.5.3): which old phase each new one continues.
 */
#ifndef PHASEMUX_CLUSTER_TRACK_H
#define PHASEMUX_CLUSTER_TRACK_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/space.h"

/*
 * overlap[i * olds + j] is what new phase i and old phase j have in common (time, or a likeness;
 * 0: nothing). Pairs them one to one, largest overlap first (of equal ones, the lower new, then
 * the lower old number), as long as the overlap is above `least`. match[news] gets the old phase
 * of each new one, or -1. overlap is overwritten.
 */
void track_match(double *overlap, size_t news, size_t olds, double least, int32_t *match);

/* A phase in short: the rectangle it stands in (slide 10), in any space, and its weight. */
struct outline {
	double low[SPACE_DIMS_MAX], high[SPACE_DIMS_MAX];
	double time_share; /* 0 .. 1 */
};

/*
 * How alike two phases are in size, shape and position, 0 .. 1: 0 where the rectangles are more
 * than `margin` apart in any dimension, and falling with the distance of their middles (half at a
 * third of the margin) and the ratio of their times.
 */
double track_likeness(const struct outline *a, const struct outline *b, uint32_t dims,
		double margin);

/*
 * Of steps 0 .. count - 1, where kept[i] is the share of the time in phases that go on from step
 * i to step i + 1: how many of the last steps in a row kept at least `least` (slide 10: stable N
 * times running).
 */
size_t track_steady(const double *kept, size_t count, double least);

#endif
