/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sketch of a distribution that is merged by adding: a histogram with buckets of equal relative width, as in
 * DDSketch (Masson, Rim, Lee, VLDB 2019; buckets by its linear interpolation of the logarithm). Unlike DDSketch
 * it has a fixed size and no fixed range, because the buckets are the logarithm modulo SKETCH_OCTAVES. The
 * position of the lowest value in that circle follows from the mean, which is known exactly from other sums. A
 * distribution wider than a factor of 2^SKETCH_OCTAVES overlaps itself. Its mean then does not fit, and it is
 * not decoded.
 */
#ifndef PHASEMUX_MULTIPLEX_ESTIMATE_SKETCH_H
#define PHASEMUX_MULTIPLEX_ESTIMATE_SKETCH_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define SKETCH_PER_OCTAVE 16 /* buckets 3 to 6% wide */
#define SKETCH_OCTAVES    4
#define SKETCH_BUCKETS    (SKETCH_PER_OCTAVE * SKETCH_OCTAVES)
#define SKETCH_ZERO       SKETCH_BUCKETS /* the bucket of 0 */
#define SKETCH_FIELDS     (SKETCH_BUCKETS + 1)

/*
 * Returns the bucket of a count, from the exponent and the first bits of the mantissa. Takes a few
 * instructions.
 */
static inline unsigned sketch_bucket(uint64_t value)
{
	double as_double = value;
	uint64_t bits;

	if (!value)
		return SKETCH_ZERO;
	memcpy(&bits, &as_double, sizeof(bits));
	/* the exponent without its bias, then 4 bits of the mantissa: 2^4 = SKETCH_PER_OCTAVE */
	return ((bits >> 48) - 1023 * SKETCH_PER_OCTAVE) % SKETCH_BUCKETS;
}

/*
 * Fills decile with the deciles (10%, 20%, ... 90%) of the distribution in the buckets, given its mean. Returns
 * false if the buckets are empty, or the mean shows that the distribution is too wide.
 */
bool sketch_deciles(const double bucket[SKETCH_FIELDS], double mean, double decile[9]);

#endif
