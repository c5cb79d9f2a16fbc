/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DBSCAN of few points in two dimensions, on a grid. A tree asks point by point, in branches that no processor
 * predicts. A grid of cells no wider than Eps answers by counting.
 */
#ifndef PHASEMUX_CLUSTER_DENSITY_GRID_H
#define PHASEMUX_CLUSTER_DENSITY_GRID_H

#include <stddef.h>
#include <stdint.h>

/*
 * Number of points above which a tree may be cheaper, because a grid compares all pairs of points of crowded
 * cells.
 */
#define GRID_POINTS 4096

struct grid_points {
	const double *point;   /* count x 2 */
	const uint32_t *index; /* number of each, into the caller's labels; NULL: 0 .. count - 1 */
	size_t count;
};

/*
 * Clusters points like dbscan_within (cluster/density/dbscan.h). `count` is the length of label[]. Also returns
 * -ERANGE, and does not change label[], if a tree is better: there are more points than GRID_POINTS, or eps is
 * so small that there would be many more cells than points.
 */
int grid_dbscan(const struct grid_points *points, size_t count, double eps, size_t min_points,
		uint32_t *label);

#endif
