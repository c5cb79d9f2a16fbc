/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses Eps from the data: the sorted k-distance graph (thesis 4.4, Ester et al.) and the range of N Eps
 * that the refinement tries (thesis 6.2.2).
 */
#ifndef PHASEMUX_CLUSTER_DENSITY_EPSILON_H
#define PHASEMUX_CLUSTER_DENSITY_EPSILON_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/density/kdtree.h"

/* Number of points above which an even sample of about as many represents all. */
#define EPSILON_SAMPLE 20000

/*
 * Fills distance[] (room for count) with the k-distances of the points in the tree, descending. Each is the
 * distance of a point to its k-th neighbour, the point itself not counted (INFINITY if there are fewer). Thus a
 * point is core at eps = its k-distance and min_points = k + 1. k >= 1. Returns the number of distances, which
 * is that of the points or of the sample, or -ENOMEM.
 */
int epsilon_distances(const struct kdtree *tree, size_t k, double *distance);

/*
 * Chooses the Eps for one DBSCAN of points (row-major): the k-distance at the valley, or `otherwise` if there
 * are not more than k points. Returns 0 or -errno (like kdtree_init).
 */
int epsilon_choose(const double *points, size_t count, uint32_t dims, size_t k, double otherwise,
		double *eps);

/*
 * Returns the place of the valley in a descending k-distance graph: the x in [0, count / 2] at which the graph
 * is farthest below the line from (0, distance[0]) to (count / 2, 0). count >= 1, all finite.
 */
size_t epsilon_valley(const double *distance, size_t count);

/*
 * Fills eps with the N Eps of the refinement, ascending. The first is the k-distance at the valley; the others
 * are at equal steps of x from there to x = 1 (x = 0, the largest, over-aggregates).
 * steps >= 1, count >= 1, all finite.
 */
void epsilon_range(const double *distance, size_t count, size_t steps, double *eps);

#endif
