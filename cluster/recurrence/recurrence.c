/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/recurrence/recurrence.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/*
 * The likeness is at least this many times 1 / sqrt(pairs), or it may be chance: its standard deviation is below that
 * where calls are drawn independently, and there may be a hundred paths.
 */
#define CHANCE    4
#define SHARE_MIN 0.5 /* of the time that rounds have */
#define NEARLY    0.2 /* likeness by which a path that comes back more often may be below the best */
#define OFTEN     1.5 /* how many times as often it comes back */
#define STRAY     0.005 /* share of the gaps that are no rounds, from which on these are left out ... */
#define STRAYS    4     /* ... if they are more than this */
#define APART                                                                                      \
	1.5 /* times as often as with a gap between them, parts of a round follow each other */

#define AROUND 4 /* gaps are near the median if they are no farther from it than 1 / AROUND of it */
#define MOVED  8 /* a median that is off by more than 1 / MOVED is replaced */

/* ---- while calls come ---- */

/* Keeps a gap in the sample (Vitter 1985, algorithm R), where its number decides instead of a random number. */
static void keep(struct recurrence_path *path, uint64_t gap)
{
	uint64_t place = path->gaps - 1;

	if (place >= RECURRENCE_SAMPLE) {
		uint64_t mixed = (path->gaps * 0x9e3779b97f4a7c15u >> 32) * 0xc4ceb9fe1a85ec53u;

		place = (mixed >> 32) * (path->gaps & UINT32_MAX) >> 32;
	}
	if (place < RECURRENCE_SAMPLE)
		path->sample[place] = gap < UINT32_MAX ? (uint32_t)gap : UINT32_MAX;
}

static int by_size(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Returns whether a number of calls is about that of a round. */
static bool is_near(const struct recurrence_path *path, uint64_t gap)
{
	return distance(gap, path->centre) * AROUND <= path->centre;
}

/* Returns whether two gaps are parts of a round: together they are about as long as one, and neither is alone. */
static bool are_parts(const struct recurrence_path *path, uint64_t a, uint64_t b)
{
	return is_near(path, a + b) && !is_near(path, a) && !is_near(path, b);
}

/* Compares the last gap with the centre, and with the gaps before it. */
static void count_gap(struct recurrence_path *path)
{
	uint64_t gap = path->gap[0];

	path->counted++;
	path->long_gaps += 4 * gap >= 7 * (uint64_t)path->centre;
	path->parts += path->row > 1 && are_parts(path, gap, path->gap[1]);
	path->parts_apart += path->row > 2 && are_parts(path, gap, path->gap[2]);
	if (!is_near(path, gap))
		return;
	path->near++;
	path->near_calls += gap;
}

/* Finds the median of the sample. If it has moved, what was compared with it no longer counts. */
static void find_centre(struct recurrence_path *path)
{
	uint32_t sorted[RECURRENCE_SAMPLE], median;

	memcpy(sorted, path->sample, sizeof(sorted));
	qsort(sorted, RECURRENCE_SAMPLE, sizeof(sorted[0]), by_size);
	median = sorted[RECURRENCE_SAMPLE / 2];
	if (distance(median, path->centre) * MOVED <= path->centre)
		return;
	path->centre = median;
	path->counted = path->near = path->near_calls = 0;
	path->long_gaps = path->parts = path->parts_apart = 0;
}

static void add_gap(struct recurrence_path *path, uint64_t gap, uint64_t ticks)
{
	path->gap[2] = path->gap[1];
	path->gap[1] = path->gap[0];
	path->gap[0] = gap;
	if (path->row++) {
		path->pairs++;
		path->differences += distance(gap, path->gap[1]);
		path->sums += gap + path->gap[1];
	}
	path->gaps++;
	path->gap_calls += gap;
	path->gap_ticks += ticks;
	keep(path, gap);
	if (path->gaps >= RECURRENCE_SAMPLE && !(path->gaps & (path->gaps - 1)))
		find_centre(path);
	if (path->centre)
		count_gap(path);
}

void recurrence_add(struct recurrences *recurrences, uint32_t symbol, uint64_t ticks)
{
	struct recurrence_path *path = &recurrences->path[symbol];

	recurrences->calls++;
	recurrences->ticks += ticks;
	if (symbol >= RECURRENCE_PATHS)
		return;
	if (symbol >= recurrences->paths)
		recurrences->paths = symbol + 1;
	if (path->calls++ && path->stretch == recurrences->stretch)
		add_gap(path, recurrences->calls - path->last_call,
				recurrences->ticks - path->last_ticks);
	else
		path->row = 0;
	path->last_call = recurrences->calls;
	path->last_ticks = recurrences->ticks;
	path->stretch = recurrences->stretch;
}

/* ---- what they say ---- */

static double likeness_of(const struct recurrences *recurrences, const struct recurrence_path *path)
{
	double share = (double)path->calls / (double)recurrences->calls;

	if (!path->pairs || share >= 1)
		return 0;
	return 1 - (double)path->differences / (double)path->sums * (2 - share) / (1 - share);
}

/* Returns whether rounds of a path are more alike than those of random calls, have some calls, and have most of the time. */
static bool marks_rounds(const struct recurrences *recurrences, const struct recurrence_path *path)
{
	double likeness = likeness_of(recurrences, path);

	return path->gap_calls >= RECURRENCE_ROUND * path->gaps &&
			likeness >= RECURRENCE_LIKENESS &&
			likeness * sqrt((double)path->pairs) >= CHANCE &&
			(double)path->gap_ticks >= SHARE_MIN * (double)recurrences->ticks;
}

/* Returns the most regular path of those that have at least `gaps` gaps and this likeness, or NULL. */
static const struct recurrence_path *most_regular(const struct recurrences *recurrences,
		double gaps, double likeness)
{
	const struct recurrence_path *best = NULL;

	for (unsigned i = 0; i < recurrences->paths; i++) {
		const struct recurrence_path *path = &recurrences->path[i];
		double own = likeness_of(recurrences, path);

		if ((double)path->gaps < gaps || own < likeness || (best && own <= likeness) ||
				!marks_rounds(recurrences, path))
			continue;
		best = path;
		likeness = own;
	}
	return best;
}

/*
 * Returns whether a call is missing in some rounds, so that gaps are long, or regular calls are made once more in some, so
 * that two gaps are parts of a round. Gaps that happen to be as long are so as often if another one is between them. All
 * regular calls are asked for parts, because the most regular one has least of them.
 */
static bool has_strays(const struct recurrences *recurrences, const struct recurrence_path *call)
{
	double counted = 0, parts = 0, apart = 0;

	for (unsigned i = 0; i < recurrences->paths; i++) {
		const struct recurrence_path *path = &recurrences->path[i];

		if (!marks_rounds(recurrences, path))
			continue;
		counted += (double)path->counted;
		parts += (double)path->parts;
		apart += (double)path->parts_apart;
	}
	return (double)call->long_gaps > STRAY * (double)call->counted + STRAYS ||
			parts > APART * apart + STRAY * counted + STRAYS;
}

/*
 * Returns the calls of a round in the mean: those of the gaps, or of the gaps near the median if others are no rounds.
 */
static double calls_of_round(const struct recurrences *recurrences,
		const struct recurrence_path *path)
{
	return path->near && has_strays(recurrences, path) ?
			(double)path->near_calls / (double)path->near :
			(double)path->gap_calls / (double)path->gaps;
}

struct recurrence recurrence_find(const struct recurrences *recurrences, uint64_t all_calls)
{
	struct recurrence found = { .rounds = 0 };
	const struct recurrence_path *best;
	double calls, rounds;

	if (!recurrences || recurrences->calls < all_calls / RECURRENCE_KNOWN)
		return found;
	best = most_regular(recurrences, 0, RECURRENCE_LIKENESS);

	for (const struct recurrence_path *parts = best; parts; best = parts ? parts : best)
		parts = most_regular(recurrences, OFTEN * (double)best->gaps,
				likeness_of(recurrences, best) - NEARLY);
	if (!best)
		return found;
	calls = calls_of_round(recurrences, best);
	rounds = (double)best->gap_calls / calls;
	return (struct recurrence){ .symbol = (uint32_t)(best - recurrences->path),
		.likeness = likeness_of(recurrences, best),
		/* each call of the path begins a round */
		.rounds = rounds * (double)best->calls / (double)best->gaps * (double)all_calls /
				(double)recurrences->calls,
		.calls = calls,
		.ticks = (double)best->gap_ticks / rounds,
		.time_share = (double)best->gap_ticks / (double)recurrences->ticks };
}
