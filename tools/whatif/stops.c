/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/whatif/stops.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ELEMENTS_MAX 1000000 /* times of all ranks */
#define LOST_MIN     0.05 /* part of what a rank computes less; less than this is not worth a word */

static size_t row_length(const struct stops_times *times)
{
	return times->paths + 2;
}

bool stops_init(struct stops_times *times, size_t ranks, size_t paths)
{
	*times = (struct stops_times){ .ranks = ranks, .paths = paths };
	if (ranks * row_length(times) > ELEMENTS_MAX)
		return false;
	times->seconds = calloc(ranks * row_length(times), sizeof(*times->seconds));
	return times->seconds != NULL;
}

bool stops_add(struct stops_times *times, const char *file)
{
	FILE *in = fopen(file, "r");
	size_t count = times->ranks * row_length(times), read = 0;
	double seconds;

	/* the first line has the result */
	if (in && fscanf(in, "%*[^\n]") == 0)
		for (; read < count && fscanf(in, "%lf", &seconds) == 1; read++)
			times->seconds[read] += seconds;
	if (in)
		fclose(in);
	times->count++;
	return read == count;
}

void stops_clear(struct stops_times *times)
{
	memset(times->seconds, 0, times->ranks * row_length(times) * sizeof(*times->seconds));
	times->count = 0;
}

static double mean_of(const struct stops_times *times, size_t rank, size_t element)
{
	return times->seconds[rank * row_length(times) + element] / times->count;
}

struct stop stops_find(const struct stops_times *nominal, const struct stops_times *changed,
		double saved)
{
	struct stop stop = { .known = false };

	if (!nominal->count || !changed->count)
		return stop;
	for (size_t rank = 0; rank < nominal->ranks; rank++) {
		double less = mean_of(nominal, rank, 0) - mean_of(changed, rank, 0);

		if (less - saved > stop.lost) {
			stop.rank = rank;
			stop.less = less;
			stop.lost = less - saved;
		}
	}
	stop.known = stop.lost > LOST_MIN * stop.less;
	for (size_t path = 0; stop.known && path <= nominal->paths; path++) {
		double longer = mean_of(changed, stop.rank, 1 + path) -
				mean_of(nominal, stop.rank, 1 + path);

		if (longer > stop.waits) {
			stop.path = path;
			stop.waits = longer;
		}
	}
	stop.known &= stop.waits > 0;
	return stop;
}

void stops_fini(struct stops_times *times)
{
	free(times->seconds);
	times->seconds = NULL;
}
