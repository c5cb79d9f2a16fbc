/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Follows phases from one result to the next: finds the old phase that each new one continues (online structure
 * detection, slides 9 and 10; thesis A.5.3).
 */
#ifndef PHASEMUX_CLUSTER_TRACK_H
#define PHASEMUX_CLUSTER_TRACK_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/density/space.h"

/*
 * Pairs new and old phases one to one, the largest overlap first, as long as it is above `least`. Of equal
 * overlaps, the lower new number is first, then the lower old number. overlap[i * olds + j] is what new phase i
 * and old phase j have in common (time, or a likeness; 0: nothing). It is overwritten. match[news] gets the old
 * phase of each new one, or -1.
 */
void track_match(double *overlap, size_t news, size_t olds, double least, int32_t *match);

/* The outline of a phase: its rectangle (slide 10), in any space, and its share of the time. */
struct outline {
	double low[SPACE_DIMS_MAX], high[SPACE_DIMS_MAX];
	double time_share; /* 0 .. 1 */
};

/*
 * Returns how alike two phases are in size, shape and position, 0 .. 1. It is 0 if the rectangles are more than
 * `margin` apart in any dimension. It decreases with the distance of their middles (half at a third of the
 * margin) and the ratio of their times.
 */
double track_likeness(const struct outline *a, const struct outline *b, uint32_t dims,
		double margin);

/*
 * Returns how many of the last steps in a row kept at least `least` (slide 10: stable N times running).
 * kept[i], 0 <= i < count, is the share of the time in phases that continue from step i to step i + 1.
 */
size_t track_steady(const double *kept, size_t count, double least);

#endif
