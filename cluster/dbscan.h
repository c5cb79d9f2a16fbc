/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DBSCAN (Ester et al. 1996; thesis 3.1.3): clusters are the connected sets of core points, points
 * with at least min_points points (themselves included) within eps (inclusive). Exact, in n log n
 * in practice.
 *
 * A border point (not core, but with core points within eps) takes, of the clusters of those, the
 * one with the most core points (of equally large ones, that whose core point of the smallest
 * coordinates, in order of the dimensions, is smallest). So the partition does not depend on the
 * order of the points, and where the points of the largest cluster come first, it is that of the
 * usual DBSCAN, in which the cluster that is found first takes the point.
 */
#ifndef PHASEMUX_CLUSTER_DBSCAN_H
#define PHASEMUX_CLUSTER_DBSCAN_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/kdtree.h"

/*
 * Clusters count points (row-major, count x dims, finite). label[count] becomes 0 for noise, else
 * 1, 2, ... in the order of each cluster's first core point in the input.
 * Returns the number of clusters, or -ENOMEM, -EINVAL (dims not 1 .. SPACE_DIMS_MAX, eps negative
 * or not a number, min_points 0, more than 2^31 points).
 */
int dbscan(const double *points, size_t count, uint32_t dims, double eps, size_t min_points,
		uint32_t *label);

/*
 * The same of the points of a tree. label[count], by their index, which is below count: 0 also for
 * those that are not in the tree.
 */
int dbscan_within(const struct kdtree *tree, size_t count, double eps, size_t min_points,
		uint32_t *label);

#endif
