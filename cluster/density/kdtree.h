/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A k-d tree over points in up to SPACE_DIMS_MAX dimensions: the index for DBSCAN, k-distances
 * and nearest neighbours. It is read-only once it is built; any number of threads may search it.
 */
#ifndef PHASEMUX_CLUSTER_DENSITY_KDTREE_H
#define PHASEMUX_CLUSTER_DENSITY_KDTREE_H

#include <stddef.h>
#include <stdint.h>

#include "cluster/density/space.h"

#define KDTREE_LEAF 8 /* largest number of points in a leaf, except equal ones */

struct kdtree_node {
	uint32_t begin, end; /* its points, in the tree's order */
	uint32_t child;      /* the first of two adjacent children; 0: a leaf */
	double diagonal;     /* squared diagonal of its box */
};

struct kdtree {
	uint32_t dims;
	uint32_t count;
	uint32_t nodes;
	double *point;            /* count x dims, in the tree's order */
	uint32_t *index;          /* tree's order -> the caller's */
	struct kdtree_node *node; /* node[0] is the root; none when count is 0 */
	double *box; /* tight box of each node: dims lowest, then dims highest coordinates */
};

/*
 * Builds the tree over count points (row-major, finite, copied). The order of the points does not
 * change what searches find.
 * Returns 0, -ENOMEM, or -EINVAL (dims, or more than 2^31 points). Call kdtree_fini also after a failure.
 */
int kdtree_init(struct kdtree *tree, const double *points, size_t count, uint32_t dims);
void kdtree_fini(struct kdtree *tree);

/*
 * Makes a tree of the points of `all` whose keep[], by the caller's index, is not 0. Takes linear time. Points
 * keep their index. Returns 0 or -ENOMEM. Call kdtree_fini also after a failure.
 */
int kdtree_filter(struct kdtree *tree, const struct kdtree *all, const uint32_t *keep);

/* Returns how many points are within sqrt(radius2) of the point, counted up to `enough`. */
size_t kdtree_count(const struct kdtree *tree, const double *point, double radius2, size_t enough);

/*
 * Returns the nearest point within sqrt(radius2), as the caller's index, or -1. With `label` (by the caller's
 * index), only points whose label is not 0 count. Of equally near ones it is the one with the smallest
 * coordinates, in order of the dimensions.
 */
int64_t kdtree_nearest(const struct kdtree *tree, const double *point, double radius2,
		const uint32_t *label);

/*
 * Finds the squared distances of some points of a leaf (at[], by the tree's order) to their k-th nearest point
 * (k >= 1; each counts itself). That of point p is in heap[p * k], INFINITY if there are fewer than k. `heap`
 * has k doubles for each point.
 */
void kdtree_kth(const struct kdtree *tree, uint32_t leaf, const uint32_t *at, uint32_t points,
		size_t k, double *heap);

/* Returns the squared distance of two points. Two dimensions are the usual case, which has no loop. */
static inline double kdtree_distance2(const double *a, const double *b, uint32_t dims)
{
	double sum = 0;

	if (dims == 2)
		return (a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]);
	for (uint32_t dim = 0; dim < dims; dim++)
		sum += (a[dim] - b[dim]) * (a[dim] - b[dim]);
	return sum;
}

/* Returns the squared distance of a coordinate from [low, high]; 0 if it is within. */
static inline double kdtree_outside2(double low, double high, double at)
{
	double below = low - at, above = at - high;
	double out = below > above ? below : above;

	return out > 0 ? out * out : 0;
}

static inline const double *kdtree_low(const struct kdtree *tree, uint32_t node)
{
	return tree->box + (size_t)node * 2 * tree->dims;
}

static inline const double *kdtree_high(const struct kdtree *tree, uint32_t node)
{
	return kdtree_low(tree, node) + tree->dims;
}

/* Returns the squared distance from the point to the nearest place in the node's box. */
static inline double kdtree_box_distance2(const struct kdtree *tree, uint32_t number,
		const double *point)
{
	const double *low = kdtree_low(tree, number), *high = kdtree_high(tree, number);
	double sum = 0;

	if (tree->dims == 2)
		return kdtree_outside2(low[0], low[2], point[0]) +
				kdtree_outside2(low[1], low[3], point[1]);
	for (uint32_t dim = 0; dim < tree->dims; dim++)
		sum += kdtree_outside2(low[dim], high[dim], point[dim]);
	return sum;
}

static inline double kdtree_apart2(double low_a, double high_a, double low_b, double high_b)
{
	double below = low_a - high_b, above = low_b - high_a;
	double out = below > above ? below : above;

	return out > 0 ? out * out : 0;
}

/* Returns the squared distance between the nearest places of two nodes' boxes. */
static inline double kdtree_boxes_distance2(const struct kdtree *tree, uint32_t a, uint32_t b)
{
	const double *low_a = kdtree_low(tree, a), *high_a = kdtree_high(tree, a);
	const double *low_b = kdtree_low(tree, b), *high_b = kdtree_high(tree, b);
	double sum = 0;

	if (tree->dims == 2)
		return kdtree_apart2(low_a[0], low_a[2], low_b[0], low_b[2]) +
				kdtree_apart2(low_a[1], low_a[3], low_b[1], low_b[3]);
	for (uint32_t dim = 0; dim < tree->dims; dim++)
		sum += kdtree_apart2(low_a[dim], high_a[dim], low_b[dim], high_b[dim]);
	return sum;
}

static inline const double *kdtree_at(const struct kdtree *tree, uint32_t i)
{
	return tree->point + (size_t)i * tree->dims;
}

#endif
