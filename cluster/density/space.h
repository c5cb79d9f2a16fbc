/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The space in which bursts are clustered: how each metric is scaled to the range [0, 1] (thesis 4.2:
 * logarithm, range normalisation, weights). Plain data, which is broadcast as bytes between ranks of one job.
 */
#ifndef PHASEMUX_CLUSTER_DENSITY_SPACE_H
#define PHASEMUX_CLUSTER_DENSITY_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPACE_DIMS_MAX 8

struct space {
	uint32_t dims;
	uint8_t logarithmic[SPACE_DIMS_MAX]; /* take the logarithm (base 10) of the metric first */
	double lowest[SPACE_DIMS_MAX];       /* of the metric, after the logarithm */
	double range[SPACE_DIMS_MAX];        /* highest - lowest; 1 if all values are equal */
	double weight[SPACE_DIMS_MAX];       /* multiplies the normalised value; 1 is neutral */
};

/*
 * Maps one burst's metrics (dims values in their own units) to a point (dims floats).
 * Returns false if a metric has no place in the space (not finite, or not above 0 if the
 * logarithm is taken); the point is then undefined.
 */
bool space_map(const struct space *space, const double *metrics, float *point);

/* Maps like space_map in double precision, which offline clustering uses. */
bool space_place(const struct space *space, const double *metrics, double *point);

/*
 * Sets lowest and range from count bursts (row-major, count x dims). Bursts that have no place
 * are skipped. With `keep`, ranges only grow, because those that the space has are included.
 * Returns the number of bursts that had a place.
 */
size_t space_fit(struct space *space, const double *metrics, size_t count, bool keep);

/*
 * Widens each range to at least half a decade (logarithmic), or half of the largest magnitude (linear). The
 * lowest value stays. Otherwise, if all bursts are nearly equal, scaling them to [0, 1] would turn the noise of
 * the machine into phases.
 */
#define SPACE_DECADES_MIN 0.5
#define SPACE_SHARE_MIN   0.5
void space_widen(struct space *space);

#endif
