/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/estimate/moments.h"
#include "multiplex/estimate/student.h"

#define QUANTA_MIN 7 /* least number for an interval */

/* Length of an interval whose evenly spread points have a standard deviation of 1. */
#define EVEN_LENGTH 3.4641016151377544

struct drift estimate_drift(const struct sums *sums, const bool *member)
{
	double all[COMMON_FIELDS] = { 0 }, mean, slope, apart, span;
	struct drift drift = { NAN, NAN };
	struct sample s;

	for (unsigned p = 0; p < sums->prototypes; p++)
		for (unsigned i = 0; member[p] && i < COMMON_FIELDS; i++)
			all[i] += sums_common(sums, p)[i];
	s = sample_of_seconds(all);
	if (s.quanta < QUANTA_MIN || !(s.y > 0))
		return drift;
	mean = s.y / s.w;
	apart = settle(all[COMMON_WHEN_WHEN] - all[COMMON_WHEN] * all[COMMON_WHEN] / s.w,
			all[COMMON_WHEN_WHEN]);
	if (!(apart > 0))
		return drift;
	slope = (all[COMMON_WHEN_T] - all[COMMON_WHEN] * mean) / apart;
	span = EVEN_LENGTH * sqrt(apart / s.w);
	drift.change = slope * span / mean;
	/*
	 * The squares are those about the mean and not about the line, so that a single quantum far from the others,
	 * through which a line can always pass, does not look certain.
	 */
	drift.ci95 = student_quantile(s.quanta - 2) * sqrt(spread(&s, mean) / (s.w * apart)) *
			span / mean;
	return drift;
}
