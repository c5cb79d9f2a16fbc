/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/density/components.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/density/sort.h"

struct component {
	uint32_t root, points;
	const double *lowest; /* its point of the smallest coordinates */
	uint32_t dims;
};

static int lower_point(const double *a, const double *b, uint32_t dims)
{
	for (uint32_t dim = 0; dim < dims; dim++)
		if (a[dim] != b[dim])
			return a[dim] < b[dim] ? -1 : 1;
	return 0;
}

static int by_rank(const void *a, const void *b)
{
	const struct component *x = a, *y = b;

	if (x->points != y->points)
		return x->points < y->points ? 1 : -1;
	return lower_point(x->lowest, y->lowest, x->dims);
}

int components_rank(uint32_t *parent, const double *at, uint32_t count, uint32_t dims)
{
	struct component *all = malloc((count + 1) * sizeof(*all));
	uint32_t *place = malloc((count + 1) * sizeof(*place)), found = 0;

	if (!all || !place) {
		free(all);
		free(place);
		return -ENOMEM;
	}
	/* a root is the lowest point of its component, so it comes before the others */
	for (uint32_t i = 0; i < count; i++) {
		uint32_t root = components_find(parent, i);
		const double *point = at + (size_t)i * dims;
		struct component *own;

		if (root == i) {
			place[i] = found;
			all[found++] = (struct component){ .root = i,
				.lowest = point,
				.dims = dims };
		}
		own = &all[place[root]];
		own->points++;
		if (lower_point(point, own->lowest, dims) < 0)
			own->lowest = point;
		parent[i] = root;
	}
	sort_items(all, found, sizeof(*all), by_rank);
	for (uint32_t rank = 0; rank < found; rank++)
		place[all[rank].root] = rank;
	for (uint32_t i = 0; i < count; i++)
		parent[i] = place[parent[i]];
	free(all);
	free(place);
	return (int)found;
}

void components_number(uint32_t *label, size_t count, uint32_t *number, uint32_t ranks)
{
	uint32_t numbers = 0;

	memset(number, 0, ranks * sizeof(*number));
	for (size_t i = 0; i < count; i++) {
		if (!label[i])
			continue;
		if (!number[label[i] - 1])
			number[label[i] - 1] = ++numbers;
		label[i] = number[label[i] - 1];
	}
}
