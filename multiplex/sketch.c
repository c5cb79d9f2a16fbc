/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplex/sketch.h"

#include <math.h>

/* A value within bucket `position` (from 2^0 on, not wrapped), `share` of the way through it. */
static double value_at(int position, double share)
{
	int octave = position / SKETCH_PER_OCTAVE;

	return ldexp(1 + (position % SKETCH_PER_OCTAVE + share) / SKETCH_PER_OCTAVE, octave);
}

/* The mean of what is in the buckets if the lowest of them stands at `start`. */
static double mean_from(const double *bucket, unsigned start, double total)
{
	double sum = 0;

	for (unsigned i = 0; i < SKETCH_BUCKETS; i++)
		sum += bucket[(start + i) % SKETCH_BUCKETS] * value_at(start + i, .5);
	return sum / total;
}

/*
 * Where the lowest bucket stands: behind the longest run of empty ones, or, when the mean does not
 * fit that, wherever it fits best. -1: nowhere.
 */
static int find_start(const double *bucket, double total, double mean)
{
	const double wrap = ldexp(1, SKETCH_OCTAVES);
	double best_error = INFINITY;
	unsigned best_gap = 0, gap = 0;
	int best = -1;

	/* Twice around, so that a run of empty buckets across the end counts whole. */
	for (unsigned i = 0; i < 2 * SKETCH_BUCKETS; i++) {
		unsigned start = i % SKETCH_BUCKETS;
		double fit, error;
		int turns;

		if (bucket[start] == 0) {
			gap++;
			continue;
		}
		fit = mean_from(bucket, start, total);
		turns = lround(log(mean / fit) / log(wrap));
		error = fabs(log(mean / (fit * pow(wrap, turns))));
		if (turns >= 0 && error < .07 &&
				(best < 0 || gap > best_gap ||
						(gap == best_gap && error < best_error))) {
			best = start + turns * SKETCH_BUCKETS;
			best_gap = gap;
			best_error = error;
		}
		gap = 0;
	}
	return best;
}

bool sketch_deciles(const double bucket[SKETCH_FIELDS], double mean, double decile[9])
{
	double total = 0, zeros = bucket[SKETCH_ZERO], passed = zeros;
	unsigned next = 1;
	int start = 0;

	for (unsigned i = 0; i < SKETCH_BUCKETS; i++)
		total += bucket[i];
	if (!(total + zeros > 0))
		return false;
	if (total > 0) {
		start = find_start(bucket, total, mean * (total + zeros) / total);
		if (start < 0)
			return false;
	}
	for (; next <= 9 && zeros >= (total + zeros) * next / 10; next++)
		decile[next - 1] = 0;
	for (unsigned i = 0; i < SKETCH_BUCKETS && next <= 9; i++) {
		double held = bucket[(start + i) % SKETCH_BUCKETS], wanted;

		for (; next <= 9 && passed + held >= (wanted = (total + zeros) * next / 10); next++)
			decile[next - 1] = value_at(start + i,
					held > 0 ? (wanted - passed) / held : 0);
		passed += held;
	}
	/* Rounding of weights may leave the last one short. */
	for (; next <= 9; next++)
		decile[next - 1] = value_at(start + SKETCH_BUCKETS - 1, 1);
	return true;
}
