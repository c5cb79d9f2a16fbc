/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DBSCAN of few points in two dimensions, on a grid: what a tree asks point by point, in branches
 * that no processor predicts, a grid of cells no wider than Eps answers by counting.
 */
#ifndef PHASEMUX_CLUSTER_GRID_H
#define PHASEMUX_CLUSTER_GRID_H

#include <stddef.h>
#include <stdint.h>

/* Beyond this, crowded cells could cost more than a tree: within a cell, all pairs are compared. */
#define GRID_POINTS 4096

/*
 * As dbscan_within (cluster/dbscan.h), of points (n x 2) whose numbers are index[]; NULL: 0 .. n - 1.
 * Also returns -ERANGE, and leaves label[] alone, where a tree serves better: more points than
 * GRID_POINTS, or an eps so small that there would be many more cells than points.
 */
int grid_dbscan(const double *points, const uint32_t *index, size_t n, size_t count, double eps,
		size_t min_points, uint32_t *label);

#endif
