/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/sequence/partition.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "cluster/density/sort.h"

struct cluster_time {
	double time;
	size_t first;
	uint32_t cluster;
};

static int by_time(const void *a, const void *b)
{
	const struct cluster_time *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? 1 : -1;
	return (x->first > y->first) - (x->first < y->first);
}

int partition_by_time(uint32_t *label, uint32_t clusters, const double *duration, size_t count)
{
	struct cluster_time *all = malloc((clusters + 1) * sizeof(*all));
	uint32_t *number = calloc(clusters + 1, sizeof(*number));
	uint32_t used = 0;

	if (!all || !number) {
		free(all);
		free(number);
		return -ENOMEM;
	}
	for (uint32_t c = 0; c <= clusters; c++)
		all[c] = (struct cluster_time){ .first = count, .cluster = c };
	for (size_t i = 0; i < count; i++) {
		all[label[i]].time += duration[i];
		if (all[label[i]].first == count)
			all[label[i]].first = i;
	}
	sort_items(all + 1, clusters, sizeof(*all), by_time);
	for (uint32_t c = 1; c <= clusters; c++)
		if (all[c].first < count)
			number[all[c].cluster] = ++used;
	for (size_t i = 0; i < count; i++)
		label[i] = number[label[i]];
	free(all);
	free(number);
	return (int)used;
}

/* The pair of labels of a burst. */
struct both {
	uint32_t a, b;
};

static int by_both(const void *x, const void *y)
{
	const struct both *p = x, *q = y;

	if (p->a != q->a)
		return p->a < q->a ? -1 : 1;
	return (p->b > q->b) - (p->b < q->b);
}

static int by_second(const void *x, const void *y)
{
	const struct both *p = x, *q = y;

	return (p->b > q->b) - (p->b < q->b);
}

static double pairs_of(double n)
{
	return n * (n - 1) / 2;
}

double partition_agreement(const uint32_t *a, const uint32_t *b, size_t count)
{
	struct both *all = malloc((count + 1) * sizeof(*all));
	double cells = 0, rows = 0, columns = 0, chance, most;

	if (!all)
		return NAN;
	for (size_t i = 0; i < count; i++)
		all[i] = (struct both){ a[i], b[i] };
	sort_items(all, count, sizeof(*all), by_both);
	for (size_t i = 0, cell = 0, row = 0; i < count; i++) {
		if (i + 1 == count || by_both(&all[i], &all[i + 1])) {
			cells += pairs_of((double)(i + 1 - cell));
			cell = i + 1;
		}
		if (i + 1 == count || all[i].a != all[i + 1].a) {
			rows += pairs_of((double)(i + 1 - row));
			row = i + 1;
		}
	}
	sort_items(all, count, sizeof(*all), by_second);
	for (size_t i = 0, column = 0; i < count; i++)
		if (i + 1 == count || all[i].b != all[i + 1].b) {
			columns += pairs_of((double)(i + 1 - column));
			column = i + 1;
		}
	free(all);
	chance = count > 1 ? rows * columns / pairs_of((double)count) : 0;
	most = (rows + columns) / 2;
	return most == chance ? 1 : (cells - chance) / (most - chance);
}

double partition_spread(const uint32_t *label, uint32_t clusters, const double *points,
		uint32_t dims, const double *duration, size_t count)
{
	double *time = calloc(clusters + 1, sizeof(*time));
	double *mean = calloc((size_t)(clusters + 1) * dims, sizeof(*mean));
	double spread = 0, total = 0;

	for (size_t i = 0; time && mean && i < count; i++) {
		time[label[i]] += duration[i];
		for (uint32_t dim = 0; dim < dims; dim++)
			mean[label[i] * dims + dim] += duration[i] * points[i * dims + dim];
	}
	for (size_t i = 0; time && mean && i < count; i++) {
		if (!label[i])
			continue;
		total += duration[i];
		for (uint32_t dim = 0; dim < dims; dim++) {
			double apart = points[i * dims + dim] -
					mean[label[i] * dims + dim] / time[label[i]];

			spread += duration[i] * apart * apart;
		}
	}
	free(time);
	free(mean);
	return total > 0 ? spread / total : NAN;
}
