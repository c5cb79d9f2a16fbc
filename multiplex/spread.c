#include <math.h>
#include <string.h>

#include "multiplex/estimate.h"
#include "multiplex/layout.h"

/* Of one event over the bursts in which it was counted: totals of weights, values and squares. */
struct moments {
	double w, y, yy;
};

static void gather(const struct sums *sums, const bool *member,
		struct moments moments[PLAN_EVENTS_MAX])
{
	for (unsigned p = 0; p < sums->prototypes; p++) {
		for (unsigned g = 0; member[p] && g < sums->plan.groups; g++) {
			const struct plan_group *group = &sums->plan.group[g];
			double *block = sums_block(sums, p, g);

			for (unsigned i = 0; i < group->count; i++) {
				struct moments *m = &moments[group->event[i]];
				double *slot = i < sums->aux ? NULL : sums_slot(block, sums, i);

				m->w += block[BLOCK_W];
				m->y += slot ? slot[SLOT_Y] : block[i ? BLOCK_X2 : BLOCK_X1];
				m->yy += slot ? slot[SLOT_BURST_YY]
					      : block[i ? BLOCK_BURST_X2X2 : BLOCK_BURST_X1X1];
			}
		}
	}
}

/*
 * No quantile q is further from the mean than sd x sqrt((1 - q) / q) below or sd x sqrt(q / (1 - q))
 * above it (Cantelli's inequality), which says more than a bucket where bursts are nearly equal.
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
	gather(sums, member, moments);
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
