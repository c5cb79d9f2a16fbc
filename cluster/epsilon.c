#include "cluster/epsilon.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cluster/kdtree.h"

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

int epsilon_distances(const double *points, size_t count, uint32_t dims, size_t k,
		double *distance)
{
	struct kdtree tree;
	double *heap;
	int error;

	if (!k)
		return -EINVAL;
	error = kdtree_init(&tree, points, NULL, count, dims);
	if (error || !count)
		return error;
	if (k >= count) {
		for (size_t i = 0; i < count; i++)
			distance[i] = INFINITY;
		goto out;
	}
	heap = malloc((k + 1) * sizeof(*heap));
	if (!heap) {
		error = -ENOMEM;
		goto out;
	}
	/* in the tree's order, neighbours in space follow each other and share the caches */
	for (uint32_t i = 0; i < tree.count; i++)
		distance[i] = sqrt(kdtree_kth(&tree, kdtree_at(&tree, i), k + 1, heap));
	free(heap);
	qsort(distance, count, sizeof(*distance), descending);
out:
	kdtree_fini(&tree);
	return error;
}

size_t epsilon_valley(const double *distance, size_t count)
{
	double half = (double)count / 2, farthest = -INFINITY;
	size_t valley = 0;

	for (size_t x = 0; x < count && (double)x <= half; x++) {
		double below = distance[0] * (1 - (double)x / half) - distance[x];

		if (below > farthest) {
			farthest = below;
			valley = x;
		}
	}
	return valley;
}

void epsilon_range(const double *distance, size_t count, size_t steps, double *eps)
{
	size_t valley = epsilon_valley(distance, count);
	size_t first = valley < 1 ? valley : 1;

	for (size_t i = 0; i < steps; i++) {
		size_t left = steps > 1 ? (valley - first) * i / (steps - 1) : 0;

		eps[i] = distance[valley - left];
	}
}
