/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <string.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/estimate/layout.h"

/* Totals of weights, values and squares of one event, over the bursts in which it was counted. */
struct moments {
	double w, y, yy;
};

static void moments_add(struct moments *m, double w, double y, double yy)
{
	m->w += w;
	m->y += y;
	m->yy += yy;
}

static void add_slot(struct moments *m, const double *block, const double *slot)
{
	moments_add(m, block[BLOCK_W], slot[SLOT_Y], slot[SLOT_BURST_YY]);
}

static void gather_moments(const struct sums *sums, const bool *member,
		struct moments moments[PLAN_EVENTS_MAX])
{
	for (unsigned p = 0; p < sums->prototypes; p++) {
		double *common = sums_common(sums, p);

		if (!member[p])
			continue;
		for (unsigned i = 0; i < sums->aux; i++)
			moments_add(&moments[i], common[BLOCK_W], common[i ? BLOCK_X2 : BLOCK_X1],
					common[i ? COMMON_BURST_X2X2 : COMMON_BURST_X1X1]);
		for (unsigned i = sums->aux; i < sums->plan.common; i++)
			add_slot(&moments[i], common, sums_common_slot(common, sums, i));
		for (unsigned g = 0; g < sums->plan.groups; g++) {
			const struct plan_group *group = &sums->plan.group[g];
			double *block = sums_block(sums, p, g);

			for (unsigned i = sums->plan.common; i < group->count; i++)
				add_slot(&moments[group->event[i]], block,
						sums_slot(block, sums, i));
		}
	}
}

/*
 * Limits the deciles by Cantelli's inequality: no quantile q is further from the mean than sd x sqrt((1 - q) /
 * q) below it or sd x sqrt(q / (1 - q)) above it. This is more exact than a bucket if bursts are nearly equal.
 */
static void tighten(double decile[9], double mean, double sd)
{
	for (unsigned d = 0; d < 9; d++) {
		double q = (d + 1) / 10.;

		decile[d] = fmax(decile[d], mean - sd * sqrt((1 - q) / q));
		decile[d] = fmin(decile[d], mean + sd * sqrt(q / (1 - q)));
	}
}

void estimate_spread(const struct sums *sums, const bool *member, uint32_t phase,
		struct spread out[PLAN_EVENTS_MAX])
{
	struct moments moments[PLAN_EVENTS_MAX] = { { 0 } };

	memset(out, 0, PLAN_EVENTS_MAX * sizeof(*out));
	gather_moments(sums, member, moments);
	for (unsigned e = 0; e < PLAN_EVENTS_MAX; e++) {
		const struct moments *m = &moments[e];
		double mean = m->y / m->w, held = 0;
		const double *sketch;

		out[e].sd = NAN;
		if (!(m->w > 0))
			continue;
		out[e].sd = sqrt(fmax(0, m->yy / m->w - mean * mean));
		if (!phase || phase > SKETCH_PHASES)
			continue;
		sketch = sums_sketch(sums, phase, e);
		for (unsigned i = 0; i < SKETCH_FIELDS; i++)
			held += sketch[i];
		out[e].deciles = held > .5 * m->w && sketch_deciles(sketch, mean, out[e].decile);
		tighten(out[e].decile, mean, out[e].sd);
	}
}
