/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connected components of points: union and find over an array of parents, and the numbers of
 * clusters, which do not depend on the order in which their points were united.
 */
#ifndef PHASEMUX_CLUSTER_DENSITY_COMPONENTS_H
#define PHASEMUX_CLUSTER_DENSITY_COMPONENTS_H

#include <stddef.h>
#include <stdint.h>

/* Returns the root of the component that contains i. */
static inline uint32_t components_find(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* Joins the components of i and j. The lower of both roots becomes the root. */
static inline void components_unite(uint32_t *parent, uint32_t i, uint32_t j)
{
	i = components_find(parent, i);
	j = components_find(parent, j);
	if (i < j)
		parent[j] = i;
	else
		parent[i] = j;
}

/*
 * Ranks components, those with most points first. Equally large ones are ordered by their points of the
 * smallest coordinates, in order of the dimensions. parent[] of each of the count
 * points (at[], row-major) becomes its component's rank, from 0.
 * Returns the number of components, or -ENOMEM.
 */
int components_rank(uint32_t *parent, const double *at, uint32_t count, uint32_t dims);

/*
 * Turns ranks into numbers: label[i] is 0 or a rank + 1, and becomes 0 or the number of the component.
 * Components are numbered from 1 in the order of their first label. number[ranks] gets these numbers.
 */
void components_number(uint32_t *label, size_t count, uint32_t *number, uint32_t ranks);

#endif
