/* SPDX-License-Identifier: BSD-3-Clause */
#include "multiplex/estimate/common_means.h"

#include "multiplex/estimate/moments.h"
#include "multiplex/estimate/student.h"

#define REGRESS_MIN 7   /* least number of quanta for a regression between them */
#define STEIN       2.  /* constant of Stein's estimator, which shrinks a regression */
#define STEEPEST    2.  /* largest slope, in mean counts per second of the read bursts */
#define BY_DRAWING  1.5 /* half-widths of its interval that the mean length is off by drawing */

/* How the common events depend on the length of bursts, between quanta. */
struct by_length {
	double quanta, w;
	double mean, known,
			variance; /* length of the read bursts, of all, and the square of its error */
	double tt;                /* residual sum of squares of the length */
	double xt[LAYOUT_AUX_MAX];
	double slope[LAYOUT_AUX_MAX]; /* that is used, in counts per second */
};

static double residual_tt(const double *all, double mean)
{
	return settle(all[COMMON_TT] - 2 * mean * all[COMMON_WT] + mean * mean * all[BLOCK_WW],
			all[COMMON_TT]);
}

static double residual_xt(const double *all, unsigned i, double mean)
{
	static const unsigned tx_at[LAYOUT_AUX_MAX] = { COMMON_TX1, COMMON_TX2 };
	double x_mean = all[x_at[i]] / all[BLOCK_W];

	return all[tx_at[i]] - x_mean * all[COMMON_WT] - mean * all[wx_at[i]] +
			x_mean * mean * all[BLOCK_WW];
}

/* Returns the slope after it is shrunk by the error of its move: the positive part of Stein's estimator. */
static double earned_slope(const double *all, const struct by_length *by, unsigned i)
{
	double slope = by->xt[i] / by->tt, move = slope * (by->known - by->mean);
	double left = settle(residual_xx(all, i, i) - slope * by->xt[i], all[xx_at[i][i]]);
	double variance = (by->known - by->mean) * (by->known - by->mean) / by->tt * left /
			(by->quanta - 2);

	if (!(move * move > STEIN * variance))
		return 0;
	slope *= 1 - STEIN * variance / (move * move);
	slope = copysign(fmin(fabs(slope), STEEPEST * all[x_at[i]] / all[COMMON_T]), slope);
	/* a mean is not negative */
	return all[x_at[i]] / all[BLOCK_W] + slope * (by->known - by->mean) < 0 ? 0 : slope;
}

/* Returns the variance of a quantity between bursts, from its weighted total and squares. */
static double burst_variance(double total, double squares, double w)
{
	double mean = total / w;

	return settle(squares / w - mean * mean, squares / w);
}

/*
 * Returns the slope for few quanta. The counts follow the length as far as they vary between bursts at all, and
 * at most in proportion to it. Instructions often do not vary although times do.
 */
static double slope_between_bursts(const double *all, unsigned i)
{
	static const unsigned squares_at[LAYOUT_AUX_MAX] = { COMMON_BURST_X1X1, COMMON_BURST_X2X2 };
	double w = all[BLOCK_W], ratio = all[x_at[i]] / all[COMMON_T];
	double x = burst_variance(all[x_at[i]], all[squares_at[i]], w);
	double t = burst_variance(all[COMMON_T], all[COMMON_BURST_TT], w);

	return t > 0 ? fmin(ratio, sqrt(x / t)) : 0;
}

/*
 * Makes the known length less certain if drawing bursts cannot explain how far it is from that of the read ones. Then
 * the unread bursts have lengths that none of the read ones has, for which the slope may not hold: a delay by another
 * program takes time and counts nothing, and more work counts more.
 */
static void doubt_distance(const double *all, struct by_length *by)
{
	struct sample lengths = sample_of_seconds(all);
	double error = sqrt(mean_variance(&lengths, by->tt, by->quanta - 1) + by->variance);
	double beyond = fabs(by->known - by->mean) -
			BY_DRAWING * student_quantile(by->quanta - 1) * error;

	/* the counts of these lengths are between none and all of what the slope says */
	if (beyond > 0)
		by->variance += beyond * beyond / 4;
}

static void find_slopes(const double *all, unsigned aux, struct by_length *by)
{
	by->tt = residual_tt(all, by->mean);
	doubt_distance(all, by);
	for (unsigned i = 0; i < aux; i++) {
		by->xt[i] = residual_xt(all, i, by->mean);
		if (by->quanta < REGRESS_MIN)
			by->slope[i] = slope_between_bursts(all, i);
		else if (by->tt > 0)
			by->slope[i] = earned_slope(all, by, i);
	}
}

/*
 * Returns the (co)variance of two means, from the residuals of their slopes and the error of the known length.
 */
static double variance_of(const double *all, const struct by_length *by, unsigned i, unsigned j)
{
	double left = residual_xx(all, i, j) - by->slope[i] * by->xt[j] - by->slope[j] * by->xt[i] +
			by->slope[i] * by->slope[j] * by->tt;
	double share = unseen(all[BLOCK_READ], all[PHASE_BURSTS]);

	if (i == j)
		left = settle(left, all[xx_at[i][i]]);
	return left * share * by->quanta / (by->quanta - 1) / (by->w * by->w) +
			by->slope[i] * by->slope[j] * by->variance;
}

void common_means(double *all, unsigned aux, double seconds, double seconds_ci95)
{
	struct by_length by = { .quanta = all[BLOCK_QUANTA], .w = all[BLOCK_W] };

	by.mean = by.known = all[COMMON_T] / all[BLOCK_W];
	if (!isnan(seconds) && all[COMMON_T] > 0 &&
			unseen(all[BLOCK_READ], all[PHASE_BURSTS]) > 0) {
		by.known = seconds;
		by.variance = seconds_ci95 / Z95 * (seconds_ci95 / Z95);
		find_slopes(all, aux, &by);
	}
	for (unsigned i = 0; i < aux; i++)
		all[PHASE_X1 + i] =
				all[x_at[i]] / all[BLOCK_W] + by.slope[i] * (by.known - by.mean);
	for (unsigned i = 0; i < aux; i++)
		for (unsigned j = i; j < aux; j++)
			all[v_at[i][j]] = variance_of(all, &by, i, j);
}
