/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplex/estimate/sketch.h"

#include <math.h>

/* Returns the value at `share` (0 .. 1) of bucket `position`, which counts from 2^0 on and is not wrapped. */
static double value_at(int position, double share)
{
	int octave = position / SKETCH_PER_OCTAVE;

	return ldexp(1 + (position % SKETCH_PER_OCTAVE + share) / SKETCH_PER_OCTAVE, octave);
}

/* Returns the mean of the distribution in the buckets if the lowest one is `start`. */
static double mean_from(const double *bucket, unsigned start, double total)
{
	double sum = 0;

	for (unsigned i = 0; i < SKETCH_BUCKETS; i++)
		sum += bucket[(start + i) % SKETCH_BUCKETS] * value_at(start + i, .5);
	return sum / total;
}

/*
 * Returns the position of the lowest bucket, or -1 if the mean fits none. It is the one after the longest run
 * of empty buckets, among those that the mean fits; the best fit decides between equal runs.
 */
static int find_start(const double *bucket, double total, double mean)
{
	const double wrap = ldexp(1, SKETCH_OCTAVES);
	double best_error = INFINITY;
	unsigned best_gap = 0, gap = 0;
	int best = -1;

	/* twice around, so that a run of empty buckets across the end is counted as one */
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
	/* the last ones may be missing, because weights are rounded */
	for (; next <= 9; next++)
		decile[next - 1] = value_at(start + SKETCH_BUCKETS - 1, 1);
	return true;
}
