/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Means and variances from moments between quanta (multiplex/layout.h), for estimate.c and
 * common_means.c. Plain arithmetic.
 */
#ifndef PHASEMUX_MULTIPLEX_MOMENTS_H
#define PHASEMUX_MULTIPLEX_MOMENTS_H

#include <math.h>

#include "multiplex/layout.h"

#define RELATIVE_ZERO 1e-11 /* residual sums of squares below this of the raw ones are rounding */

/*
 * Behind the sums of what was read, in a phase's block: how many bursts there were, and what is known of
 * the common events' means per burst, with the variances and the covariance of these.
 */
enum {
	PHASE_BURSTS = COMMON_FIELDS,
	PHASE_X1,
	PHASE_X2,
	PHASE_V11,
	PHASE_V12,
	PHASE_V22,
	PHASE_FIELDS,
};

/* A counter y with the bursts that it was seen in, as moments between quanta. */
struct sample {
	double quanta, read, w, ww, y, yw, yy;
};

static const unsigned x_at[AUX_MAX] = { BLOCK_X1, BLOCK_X2 };
static const unsigned wx_at[AUX_MAX] = { BLOCK_WX1, BLOCK_WX2 };
static const unsigned xx_at[AUX_MAX][AUX_MAX] = { { BLOCK_X1X1, BLOCK_X1X2 },
	{ BLOCK_X1X2, BLOCK_X2X2 } };
static const unsigned v_at[AUX_MAX][AUX_MAX] = { { PHASE_V11, PHASE_V12 },
	{ PHASE_V12, PHASE_V22 } };

/* A sum of squared residuals that is within rounding of nothing is nothing. */
static inline double settle(double residual, double raw)
{
	return residual > RELATIVE_ZERO * raw ? residual : 0;
}

/* The share of the phase's bursts that was not seen; it alone makes an error. */
static inline double unseen(double read, double all)
{
	return read < all ? 1 - read / all : 0;
}

/* The sum of squared residuals y - mean x w. */
static inline double spread(const struct sample *s, double mean)
{
	return settle(s->yy - 2 * mean * s->yw + mean * mean * s->ww, s->yy);
}

/* Of a sum of squared residuals with df degrees of freedom: the variance of the mean per burst. */
static inline double mean_variance(const struct sample *s, double residual, double df)
{
	return residual * s->quanta / fmax(df, 1) / (s->w * s->w);
}

/* Of two common events in a block: the sum of products of what varies about their means. */
static inline double residual_xx(const double *b, unsigned i, unsigned j)
{
	double mean_i = b[x_at[i]] / b[BLOCK_W], mean_j = b[x_at[j]] / b[BLOCK_W];
	double value = b[xx_at[i][j]] - mean_i * b[wx_at[j]] - mean_j * b[wx_at[i]] +
			mean_i * mean_j * b[BLOCK_WW];

	return i == j ? settle(value, b[xx_at[i][i]]) : value;
}

/* The (co)variance of the common events' means in the bursts that were read. */
static inline double common_variance(const double *all, unsigned i, unsigned j)
{
	return residual_xx(all, i, j) * unseen(all[BLOCK_READ], all[PHASE_BURSTS]) *
			all[BLOCK_QUANTA] / (all[BLOCK_QUANTA] - 1) / (all[BLOCK_W] * all[BLOCK_W]);
}

#endif
