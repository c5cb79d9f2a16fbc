/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Connected components of points: union and find over an array of parents, and the numbers that
 * clusters get, whatever the order in which their points were united.
 */
#ifndef PHASEMUX_CLUSTER_COMPONENTS_H
#define PHASEMUX_CLUSTER_COMPONENTS_H

#include <stddef.h>
#include <stdint.h>

static inline uint32_t components_find(uint32_t *parent, uint32_t i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* The lower of both roots becomes the root. */
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
 * Ranks components, those with most points first; of equally large ones, that whose point of the
 * smallest coordinates, in order of the dimensions, is smallest. parent[] of each of the count
 * points (at[], row-major) becomes its component's rank, from 0.
 * Returns how many there are, or -ENOMEM.
 */
int components_rank(uint32_t *parent, const double *at, uint32_t count, uint32_t dims);

/*
 * Turns ranks into numbers: label[i] is 0 or a rank + 1, and becomes 0 or the number of the
 * component, which are numbered from 1 in the order of their first label. number[ranks] gets them.
 */
void components_number(uint32_t *label, size_t count, uint32_t *number, uint32_t ranks);

#endif
