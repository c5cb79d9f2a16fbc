/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Means and variances from moments between quanta (multiplex/estimate/layout.h). estimate.c and common_means.c
 * use them.
 */
#ifndef PHASEMUX_MULTIPLEX_ESTIMATE_MOMENTS_H
#define PHASEMUX_MULTIPLEX_ESTIMATE_MOMENTS_H

#include <math.h>

#include "multiplex/estimate/layout.h"

#define MOMENTS_ZERO 1e-11 /* part of a raw sum of squares below which a residual is rounding */

/*
 * Fields of a phase's block after the sums of the bursts that were read: the number of all bursts, and the
 * common events' means per burst, with their variances and covariance.
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

/* A counter y in the bursts in which it was counted, as moments between quanta. */
struct sample {
	double quanta, read, w, ww, y, yw, yy;
};

/* Returns the length of the bursts that were read, in seconds, from the fields that all groups have in common. */
static inline struct sample sample_of_seconds(const double *all)
{
	return (struct sample){ all[BLOCK_QUANTA], all[BLOCK_READ], all[BLOCK_W], all[BLOCK_WW],
		all[COMMON_T], all[COMMON_WT], all[COMMON_TT] };
}

static const unsigned x_at[LAYOUT_AUX_MAX] = { BLOCK_X1, BLOCK_X2 };
static const unsigned wx_at[LAYOUT_AUX_MAX] = { BLOCK_WX1, BLOCK_WX2 };
static const unsigned xx_at[LAYOUT_AUX_MAX][LAYOUT_AUX_MAX] = { { BLOCK_X1X1, BLOCK_X1X2 },
	{ BLOCK_X1X2, BLOCK_X2X2 } };
static const unsigned v_at[LAYOUT_AUX_MAX][LAYOUT_AUX_MAX] = { { PHASE_V11, PHASE_V12 },
	{ PHASE_V12, PHASE_V22 } };

/* Returns a sum of squared residuals, or 0 if it is not above the rounding errors. */
static inline double settle(double residual, double raw)
{
	return residual > MOMENTS_ZERO * raw ? residual : 0;
}

/* Returns the share of the phase's bursts that was not seen. Only these bursts cause an error. */
static inline double unseen(double read, double all)
{
	return read < all ? 1 - read / all : 0;
}

/* Returns the sum of squared residuals y - mean x w. */
static inline double spread(const struct sample *s, double mean)
{
	return settle(s->yy - 2 * mean * s->yw + mean * mean * s->ww, s->yy);
}

/* Returns the variance of the mean per burst from a sum of squared residuals with df degrees of freedom. */
static inline double mean_variance(const struct sample *s, double residual, double df)
{
	return residual * s->quanta / fmax(df, 1) / (s->w * s->w);
}

/* Returns the sum of products of the residuals of two common events in a block about their means. */
static inline double residual_xx(const double *b, unsigned i, unsigned j)
{
	double mean_i = b[x_at[i]] / b[BLOCK_W], mean_j = b[x_at[j]] / b[BLOCK_W];
	double value = b[xx_at[i][j]] - mean_i * b[wx_at[j]] - mean_j * b[wx_at[i]] +
			mean_i * mean_j * b[BLOCK_WW];

	return i == j ? settle(value, b[xx_at[i][i]]) : value;
}

/* Returns the (co)variance of the common events' means in the bursts that were read. */
static inline double common_variance(const double *all, unsigned i, unsigned j)
{
	return residual_xx(all, i, j) * unseen(all[BLOCK_READ], all[PHASE_BURSTS]) *
			all[BLOCK_QUANTA] / (all[BLOCK_QUANTA] - 1) / (all[BLOCK_W] * all[BLOCK_W]);
}

#endif
