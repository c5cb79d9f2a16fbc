/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Neyman's allocation over groups. For a given number of quanta, the sum of squared weighted errors over phases
 * and counters is least if a group's share is in proportion to a root: that of the residual variance of its
 * quanta, summed over phases.
 */
#include "multiplex/scheme/adaptive.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "multiplex/estimate/layout.h"

#define FLOOR .5 /* least share of a group, as a part of an equal share */

void adaptive_init(struct adaptive *adaptive, unsigned groups)
{
	memset(adaptive, 0, sizeof(*adaptive));
	adaptive->groups = groups;
	for (unsigned g = 0; g < groups; g++)
		adaptive->share[g] = 1. / groups;
}

/* Returns the residual of a sum of squares y on x. A second regressor would make little difference here. */
static double left_over(double yy, double yx, double xx)
{
	double left = xx > 0 ? yy - yx * yx / xx : yy;

	return left > 1e-11 * yy ? left : 0;
}

/*
 * Returns the variance of the weighted error after one quantum alone. It is the sum over the group's counters
 * of the variance of the mean per burst, relative to the cycles per burst. It is 1 while there are fewer than
 * two quanta.
 */
static double variation(const struct sums *sums, double *block, unsigned group)
{
	double quanta = block[BLOCK_QUANTA], sum = 0;

	if (quanta < 2 || block[BLOCK_X1] == 0)
		return 1;
	for (unsigned i = sums->plan.common; i < sums->plan.group[group].count; i++) {
		const double *slot = sums_slot(block, sums, i);
		double left = left_over(slot[SLOT_YY], slot[SLOT_YW], block[BLOCK_WW]);

		if (sums->aux > 0)
			left = fmin(left,
					left_over(slot[SLOT_YY], slot[SLOT_YX1],
							block[BLOCK_X1X1]));
		if (sums->aux > 1)
			left = fmin(left,
					left_over(slot[SLOT_YY], slot[SLOT_YX2],
							block[BLOCK_X2X2]));
		sum += left;
	}
	return sum * quanta * quanta / (quanta - 1) / (block[BLOCK_X1] * block[BLOCK_X1]);
}

/* Adds the groups' variances of one phase, weighted by its time. */
static void add_phase(const struct sums *sums, const uint32_t *phase, unsigned first,
		double variance[PLAN_GROUPS_MAX])
{
	double block[BLOCK_FIELDS + PLAN_GROUP_EVENTS_MAX * (SLOT_FIELDS + PLAN_GROUP_EVENTS_MAX)];
	double value[PLAN_GROUPS_MAX], time = 0;

	for (unsigned p = first; p < sums->prototypes; p++)
		if (p == first || (phase && phase[p] == phase[first]))
			time += sums_common(sums, p)[COMMON_T];
	for (unsigned g = 0; g < sums->plan.groups; g++) {
		size_t length = sums_block_length(sums, g);

		memset(block, 0, sizeof(block));
		for (unsigned p = first; p < sums->prototypes; p++)
			if (p == first || (phase && phase[p] == phase[first]))
				for (size_t i = 0; i < length; i++)
					block[i] += sums_block(sums, p, g)[i];
		value[g] = variation(sums, block, g);
	}
	for (unsigned g = 0; g < sums->plan.groups; g++)
		variance[g] += value[g] * time;
}

void adaptive_learn(struct adaptive *adaptive, const struct sums *sums, const uint32_t *phase)
{
	double variance[PLAN_GROUPS_MAX] = { 0 }, total = 0;

	for (unsigned p = 0; p < sums->prototypes; p++) {
		bool first = true;

		for (unsigned q = 0; q < p && phase && phase[p]; q++)
			first &= phase[q] != phase[p];
		if (first && (!phase || phase[p]))
			add_phase(sums, phase, p, variance);
	}
	for (unsigned g = 0; g < adaptive->groups; g++)
		total += sqrt(variance[g]);
	if (!(total > 0))
		return;
	for (unsigned g = 0; g < adaptive->groups; g++)
		adaptive->share[g] =
				FLOOR / adaptive->groups + (1 - FLOOR) * sqrt(variance[g]) / total;
	adaptive->learnt++;
}

unsigned adaptive_group(const struct adaptive *adaptive, double at)
{
	for (unsigned g = 0; g + 1 < adaptive->groups; g++) {
		at -= adaptive->share[g];
		if (at < 0)
			return g;
	}
	return adaptive->groups - 1;
}
