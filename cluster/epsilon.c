#include "cluster/epsilon.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

int epsilon_distances(const struct kdtree *tree, size_t k, double *distance)
{
	/* every so many in the tree's order, which follows space: an even sample of it */
	uint32_t step = tree->count / EPSILON_SAMPLE + 1, found = 0;
	double *heap = malloc((k + 1) * sizeof(*heap));

	if (!heap)
		return -ENOMEM;
	for (uint32_t i = step / 2; i < tree->count; i += step)
		distance[found++] = k < tree->count ?
				sqrt(kdtree_kth(tree, kdtree_at(tree, i), k + 1, heap)) : INFINITY;
	free(heap);
	qsort(distance, found, sizeof(*distance), descending);
	return (int)found;
}

int epsilon_choose(const double *points, size_t count, uint32_t dims, size_t k, double otherwise,
		double *eps)
{
	double *distance = malloc((count + 1) * sizeof(*distance));
	struct kdtree tree = { 0 };
	int found = distance ? kdtree_init(&tree, points, count, dims) : -ENOMEM;

	*eps = otherwise;
	if (!found && k < count) {
		found = epsilon_distances(&tree, k, distance);
		if (found > 0)
			*eps = distance[epsilon_valley(distance, (size_t)found)];
	}
	kdtree_fini(&tree);
	free(distance);
	return found < 0 ? found : 0;
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
