/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/timeline/groups.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SEGMENTS 16  /* parts of the run in which the time of two groups is compared */
#define ALIKE    0.1 /* part of the time that may lie elsewhere */

/* Time of a group by segment of the run and column, as shares of its time. */
typedef double shape[SEGMENTS][TIMELINE_COLUMNS];

static void shape_of(const struct timeline_groups *groups, const struct timeline_group *group,
		shape of)
{
	double all = 0;

	memset(of, 0, sizeof(double[SEGMENTS][TIMELINE_COLUMNS]));
	for (uint32_t b = 0; b < groups->bins; b++)
		for (unsigned c = 0; c < TIMELINE_COLUMNS; c++) {
			double seconds = (double)group->seconds[b][c];

			of[b * SEGMENTS / groups->bins][c] += seconds;
			all += seconds;
		}
	for (unsigned s = 0; s < SEGMENTS && all > 0; s++)
		for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
			of[s][c] /= all;
}

/* Returns the part of the time that lies elsewhere in one of two groups than in the other, 0 .. 1. */
static double difference(const struct timeline_groups *groups, const struct timeline_group *one,
		const struct timeline_group *other)
{
	double sum = 0;
	shape a, b;

	shape_of(groups, one, a);
	shape_of(groups, other, b);
	for (unsigned s = 0; s < SEGMENTS; s++)
		for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
			sum += fabs(a[s][c] - b[s][c]) / 2;
	return sum;
}

static void merge_group(struct timeline_group *into, const struct timeline_group *from)
{
	into->lowest = from->lowest < into->lowest ? from->lowest : into->lowest;
	into->highest = from->highest > into->highest ? from->highest : into->highest;
	into->ranks += from->ranks;
	into->threads += from->threads;
	for (unsigned b = 0; b < TIMELINE_BINS; b++)
		for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
			into->seconds[b][c] += from->seconds[b][c];
}

/* Returns the group that is most like the given one, or -1 if there is no other. *how: the difference. */
static int nearest_group(const struct timeline_groups *groups, const struct timeline_group *to,
		double *how)
{
	int best = -1;

	*how = INFINITY;
	for (uint32_t i = 0; i < groups->count; i++) {
		double away;

		if (&groups->group[i] == to)
			continue;
		away = difference(groups, &groups->group[i], to);
		if (away < *how) {
			*how = away;
			best = (int)i;
		}
	}
	return best;
}

/* Makes one group of the two that are most alike. */
static void join_nearest(struct timeline_groups *groups)
{
	uint32_t one = 0, other = 1;
	double least = INFINITY, how;

	for (uint32_t i = 0; i < groups->count; i++) {
		int near = nearest_group(groups, &groups->group[i], &how);

		if (how < least) {
			least = how;
			one = (uint32_t)near < i ? (uint32_t)near : i;
			other = (uint32_t)near < i ? i : (uint32_t)near;
		}
	}
	merge_group(&groups->group[one], &groups->group[other]);
	groups->group[other] = groups->group[--groups->count];
}

static void add_group(struct timeline_groups *groups, const struct timeline_group *group)
{
	double how;
	int near = nearest_group(groups, group, &how);

	if (near >= 0 && how <= ALIKE) {
		merge_group(&groups->group[near], group);
		return;
	}
	if (groups->count == TIMELINE_GROUPS_MAX)
		join_nearest(groups);
	groups->group[groups->count++] = *group;
}

static void widen_group(struct timeline_group *group)
{
	for (unsigned b = 0; b < TIMELINE_BINS; b++)
		for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
			group->seconds[b][c] = b < TIMELINE_BINS / 2 ?
					group->seconds[2 * b][c] + group->seconds[2 * b + 1][c] :
					0;
}

/* Makes one bin of each two until the bins are as wide as wanted. Widths differ only by factors of two, and by rounding. */
static void group_widen(struct timeline_groups *groups, double bin_seconds)
{
	while (groups->bin_seconds > 0 && groups->bin_seconds * 1.5 < bin_seconds) {
		for (uint32_t i = 0; i < groups->count; i++)
			widen_group(&groups->group[i]);
		groups->bin_seconds *= 2;
		groups->bins = (groups->bins + 1) / 2;
	}
}

/* Adds a group whose bins are at most as wide as those of `groups`. bins, width: number and seconds of its bins. */
static void add_narrow(struct timeline_groups *groups, const struct timeline_group *narrow,
		uint32_t bins, double width)
{
	struct timeline_group group = *narrow;

	for (; width * 1.5 < groups->bin_seconds; width *= 2, bins = (bins + 1) / 2)
		widen_group(&group);
	groups->bins = bins > groups->bins ? bins : groups->bins;
	add_group(groups, &group);
}

void timeline_groups_add(struct timeline_groups *groups, const struct timeline_of_process *process,
		const struct timeline_labels *labels)
{
	const struct timeline *timeline = &process->timeline;
	double width = (double)atomic_load_explicit(&timeline->width, memory_order_relaxed) *
			process->ns_per_tick * 1e-9;
	uint32_t bins = atomic_load_explicit(&timeline->used, memory_order_relaxed);
	struct timeline_group group = { .ranks = 1,
		.lowest = process->rank,
		.highest = process->rank,
		.threads = (float)process->threads };

	if (!bins || !(width > 0) || !timeline_place(process, labels, group.seconds))
		return;
	if (!groups->count)
		groups->bin_seconds = width;
	group_widen(groups, width);
	add_narrow(groups, &group, bins, width);
}

void timeline_groups_merge(const void *in, void *inout)
{
	const struct timeline_groups *from = in;
	struct timeline_groups *into = inout;

	if (!from->count)
		return;
	if (!into->count) {
		*into = *from;
		return;
	}
	group_widen(into, from->bin_seconds);
	for (uint32_t i = 0; i < from->count; i++)
		add_narrow(into, &from->group[i], from->bins, from->bin_seconds);
}

int timeline_groups_reduce(struct timeline_groups *groups, struct timeline_groups *scratch,
		const struct mpi_adapter *adapter)
{
	return adapter->reduce_start(groups, scratch, sizeof(*groups), timeline_groups_merge) ||
					adapter->wait() ?
			-EIO :
			0;
}
