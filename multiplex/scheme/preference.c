/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplex/scheme/preference.h"

#include <math.h>

#include "multiplex/estimate/layout.h"

/*
 * Bounds of the factors, because a program changes: a rare phase that is preferred now may soon be the only
 * one.
 */
#define FACTOR_MIN 0.5
#define FACTOR_MAX 2.

#define READ_MIN 16 /* bursts; an interval of fewer says too little */

/* Returns the mean over events of the half-width as a share of the mean; an unknown one counts as 1. */
static double width(const struct phase_estimate *of, unsigned events)
{
	double sum = 0;

	for (unsigned e = 0; e < events; e++) {
		double part = of->event[e].ci95 / fabs(of->event[e].mean);

		/* 0 / 0: an event that never occurs */
		sum += isnan(part) ? 0 : fmin(part, 1);
	}
	return events ? sum / events : 0;
}

/* Returns the value of reads for a phase, and its time in seconds, both by the sums' estimate. */
static double worth(const struct sums *sums, struct preference_scratch *scratch, double *seconds)
{
	struct phase_estimate *of = &scratch->estimate;

	estimate_phase(sums, scratch->member, NULL, of);
	*seconds = of->bursts * of->duration.mean;
	if (of->read < READ_MIN || !(*seconds > 0))
		return 0;
	/* the width after one read, because the variance is divided by the number of reads */
	return width(of, sums->plan.events) * sqrt((double)of->read / *seconds);
}

/*
 * Sets factors in proportion to `worth`, within their bounds, and scales them so that the total time is
 * unchanged.
 */
static void balance(const double *worth, const double *seconds, float *factor, unsigned count)
{
	double mean = 0, time = 0, spent = 0;

	for (unsigned i = 0; i < count; i++) {
		mean += worth[i] * seconds[i];
		time += worth[i] > 0 ? seconds[i] : 0;
	}
	for (unsigned i = 0; i < count; i++) {
		factor[i] = 1;
		if (worth[i] > 0 && mean > 0)
			factor[i] = (float)fmin(fmax(worth[i] * time / mean, FACTOR_MIN),
					FACTOR_MAX);
		spent += worth[i] > 0 ? (double)factor[i] * seconds[i] : 0;
	}
	for (unsigned i = 0; i < count; i++)
		if (worth[i] > 0 && spent > 0)
			factor[i] *= (float)(time / spent);
}

void preference_learn(const struct sums *sums, const uint32_t *phase, float *factor,
		struct preference_scratch *scratch)
{
	unsigned count = 0, all = sums->prototypes;

	*scratch = (struct preference_scratch){ .number = { 0 } };
	for (unsigned p = 0; p < all; p++)
		factor[p] = 1;
	if (all > PREFERENCE_MAX)
		return;
	for (unsigned p = 0; p < all; p++) {
		bool first = phase[p] != 0;

		for (unsigned q = 0; q < p && first; q++)
			first = phase[q] != phase[p];
		if (!first)
			continue;
		for (unsigned q = 0; q < all; q++) {
			scratch->member[q] = phase[q] == phase[p];
			if (scratch->member[q])
				scratch->number[q] = (uint16_t)count;
		}
		scratch->value[count] = worth(sums, scratch, &scratch->seconds[count]);
		count++;
	}
	balance(scratch->value, scratch->seconds, scratch->factor, count);
	for (unsigned p = 0; p < all; p++)
		if (phase[p])
			factor[p] = scratch->factor[scratch->number[p]];
}
