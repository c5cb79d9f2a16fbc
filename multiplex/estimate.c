#include "multiplex/estimate.h"

#include <math.h>
#include <string.h>

#include "multiplex/layout.h"

/*
 * Rounding in the sums of squares hides a spread between quanta below about 3e-7 of the mean
 * (layout.h); no interval claims more than this.
 */
#define RELATIVE_FLOOR 1e-9

/* The blocks of a phase's prototypes added up: sums are additive over prototypes too. */
struct gathered_group {
	double block[BLOCK_FIELDS];
	double slot[PLAN_GROUP_EVENTS_MAX][SLOT_FIELDS];
};

/* The 97.5% quantile of Student's t: exact for few degrees of freedom, then Cornish-Fisher. */
static double student(double df)
{
	static const double few[] = { INFINITY, 12.7062, 4.3027, 3.1824, 2.7764, 2.5706 };
	const double z = 1.959963985, z3 = z * z * z, z5 = z3 * z * z;

	if (df < 6)
		return few[df < 1 ? 0 : (unsigned)df];
	return z + (z3 + z) / (4 * df) + (5 * z5 + 16 * z3 + 3 * z) / (96 * df * df);
}

static void gather(const struct sums *sums, const bool *member, unsigned group,
		struct gathered_group *out)
{
	unsigned count = sums->plan.group[group].count;

	memset(out, 0, sizeof(*out));
	for (unsigned p = 0; p < sums->prototypes; p++) {
		double *block = sums_block(sums, p, group);

		if (!member[p] || block[BLOCK_READ] == 0)
			continue;
		for (unsigned i = 0; i < BLOCK_FIELDS; i++)
			out->block[i] += block[i];
		for (unsigned i = sums->aux; i < count; i++)
			for (unsigned f = 0; f < SLOT_FIELDS; f++)
				out->slot[i][f] += sums_slot(block, sums, i)[f];
	}
}

/*
 * The mean of y = total / w, from quanta as the units drawn: a ratio of two totals over quanta, its
 * variance that of the quanta's residuals y - mean x w (Cochran, Sampling Techniques, 6.4). `all`
 * is how many bursts there are, of which `read` were: those carry no error.
 */
static struct estimate ratio_mean(double quanta, double read, double all, double w, double ww,
		double y, double yw, double yy)
{
	struct estimate out = { .mean = NAN, .ci95 = INFINITY, .observed = read };
	double residual, share = all > 0 ? 1 - read / all : 0;

	if (read == 0)
		return out;
	out.mean = y / w;
	if (share <= 0)
		share = 0;
	residual = yy - 2 * out.mean * yw + out.mean * out.mean * ww;
	if (quanta > 1)
		out.ci95 = student(quanta - 1) / w *
			   sqrt(fmax(residual, 0) * quanta / (quanta - 1) * share);
	else if (share < 1e-12)
		out.ci95 = 0;
	out.ci95 += RELATIVE_FLOOR * fabs(out.mean);
	return out;
}

static struct estimate estimate_event(const struct gathered_group *group, unsigned position,
		double all)
{
	const double *b = group->block, *s = group->slot[position];

	return ratio_mean(b[BLOCK_QUANTA], b[BLOCK_READ], all, b[BLOCK_W], b[BLOCK_WW], s[SLOT_Y],
			s[SLOT_YW], s[SLOT_YY]);
}

void estimate_phase(const struct sums *sums, const bool *member, struct phase_estimate *out)
{
	const struct plan *plan = &sums->plan;
	double all[BLOCK_FIELDS] = { 0 };
	struct gathered_group group;

	memset(out, 0, sizeof(*out));
	for (unsigned g = 0; g < plan->groups; g++) {
		gather(sums, member, g, &group);
		for (unsigned i = 0; i < BLOCK_FIELDS; i++)
			all[i] += group.block[i];
	}
	out->bursts = all[BLOCK_W];
	out->read = all[BLOCK_READ];
	out->seconds = all[BLOCK_ELAPSED];
	out->duration = ratio_mean(all[BLOCK_QUANTA], all[BLOCK_READ], all[BLOCK_W], all[BLOCK_W],
			all[BLOCK_WW], all[BLOCK_T], all[BLOCK_WT], all[BLOCK_TT]);
	if (out->read)
		out->duration_sd = sqrt(fmax(0, all[BLOCK_BURST_TT] / all[BLOCK_W] -
							out->duration.mean * out->duration.mean));
	if (sums->aux > 0)
		out->event[0] = ratio_mean(all[BLOCK_QUANTA], all[BLOCK_READ], all[BLOCK_W],
				all[BLOCK_W], all[BLOCK_WW], all[BLOCK_X1], all[BLOCK_WX1],
				all[BLOCK_X1X1]);
	if (sums->aux > 1)
		out->event[1] = ratio_mean(all[BLOCK_QUANTA], all[BLOCK_READ], all[BLOCK_W],
				all[BLOCK_W], all[BLOCK_WW], all[BLOCK_X2], all[BLOCK_WX2],
				all[BLOCK_X2X2]);
	for (unsigned g = 0; g < plan->groups; g++) {
		gather(sums, member, g, &group);
		for (unsigned i = sums->aux; i < plan->group[g].count; i++)
			out->event[plan->group[g].event[i]] =
					estimate_event(&group, i, all[BLOCK_W]);
	}
}
