/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/density/epsilon.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Returns eight bits of a number as a digit for a descending sort. */
static unsigned digit(double value, unsigned shift)
{
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return 255 - (unsigned)(bits >> shift & 255);
}

/*
 * Sorts distances in descending order. They are not negative, and therefore in the order of their bits. Sorts
 * by digits, because comparisons that cannot be predicted cost more than all else here. scratch: `count`
 * numbers.
 */
static void sort_descending(double *distance, double *scratch, size_t count)
{
	for (unsigned shift = 0; shift < 64; shift += 8) {
		size_t begin[257] = { 0 };
		double *swap;

		for (size_t i = 0; i < count; i++)
			begin[digit(distance[i], shift) + 1]++;
		for (unsigned d = 1; d < 256; d++)
			begin[d] += begin[d - 1];
		for (size_t i = 0; i < count; i++)
			scratch[begin[digit(distance[i], shift)]++] = distance[i];
		swap = distance;
		distance = scratch;
		scratch = swap;
	}
}

/* Writes the k-distances of every `step`th point, for the points of one leaf. Returns their number. */
static uint32_t distances_of_leaf(const struct kdtree *tree, uint32_t leaf, uint32_t step, size_t k,
		double *heap, double *distance)
{
	uint32_t end = tree->node[leaf].end, found = 0;
	uint32_t i = tree->node[leaf].begin + step - 1;

	i -= (i - step / 2) % step;
	while (i < end) {
		uint32_t at[KDTREE_LEAF], points = 0;

		for (; i < end && points < KDTREE_LEAF; i += step)
			at[points++] = i;
		kdtree_kth(tree, leaf, at, points, k + 1, heap);
		for (uint32_t p = 0; p < points; p++)
			distance[found++] = sqrt(heap[p * (k + 1)]);
	}
	return found;
}

int epsilon_distances(const struct kdtree *tree, size_t k, double *distance)
{
	/* every `step`th point in the tree's order, which follows space, is an even sample */
	uint32_t step = tree->count / EPSILON_SAMPLE + 1, found = 0;
	double *heap, *scratch;

	if (k >= tree->count) {
		for (uint32_t i = step / 2; i < tree->count; i += step)
			distance[found++] = INFINITY;
		return (int)found;
	}
	heap = malloc(KDTREE_LEAF * (k + 1) * sizeof(*heap));
	scratch = malloc(tree->count * sizeof(*scratch));
	if (!heap || !scratch) {
		free(heap);
		free(scratch);
		return -ENOMEM;
	}
	for (uint32_t number = 0; number < tree->nodes; number++)
		if (!tree->node[number].child)
			found += distances_of_leaf(tree, number, step, k, heap, distance + found);
	sort_descending(distance, scratch, found);
	free(heap);
	free(scratch);
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
