/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DBSCAN (Ester et al. 1996; thesis 3.1.3): clusters are the connected sets of core points, points
 * with at least min_points points (themselves included) within eps (inclusive). Exact, in n log n
 * in practice.
 *
 * A border point is not core, but has core points within eps. It takes the cluster with the most core points of
 * the clusters of these. Equally large clusters are ordered by their core points of the smallest coordinates,
 * in order of the dimensions. Therefore the partition does not depend on the order of the points. If the points
 * of the largest cluster come first, it is that of the usual DBSCAN, in which the cluster that is found first
 * takes the point.
 */
#ifndef PHASEMUX_CLUSTER_DENSITY_DBSCAN_H
#define PHASEMUX_CLUSTER_DENSITY_DBSCAN_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/density/kdtree.h"

/*
 * Clusters count points (row-major, count x dims, finite). label[count] becomes 0 for noise, else
 * 1, 2, ... in the order of each cluster's first core point in the input.
 * Returns the number of clusters, or -ENOMEM, -EINVAL (dims not 1 .. SPACE_DIMS_MAX, eps negative
 * or not a number, min_points 0, more than 2^31 points).
 */
int dbscan(const double *points, size_t count, uint32_t dims, double eps, size_t min_points,
		uint32_t *label);

/*
 * Clusters the points of a tree like dbscan(). label[count] is by the points' index, which is below count; it
 * is 0 also for points that are not in the tree.
 */
int dbscan_within(const struct kdtree *tree, size_t count, double eps, size_t min_points,
		uint32_t *label);

#endif
