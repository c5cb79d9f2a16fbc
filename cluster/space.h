/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The space that bursts are clustered in: which metrics span it, and how each is brought to the
 * range [0, 1] (thesis 4.2: logarithm, range normalisation, weights). Plain data: it is broadcast
 * as bytes between ranks of one job.
 */
#ifndef PHASEMUX_CLUSTER_SPACE_H
#define PHASEMUX_CLUSTER_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPACE_DIMS_MAX 8

struct space {
	uint32_t dims;
	uint8_t logarithmic[SPACE_DIMS_MAX]; /* take the logarithm (base 10) of the metric first */
	double lowest[SPACE_DIMS_MAX];       /* of the metric, after the logarithm */
	double range[SPACE_DIMS_MAX];        /* highest - lowest; 1 where all are equal */
	double weight[SPACE_DIMS_MAX];       /* multiplies the normalised value; 1 is neutral */
};

/*
 * Maps one burst's metrics (dims values in their own units) to a point (dims floats).
 * Returns false when a metric has no place in the space (not finite, or not above 0 where the
 * logarithm is taken); the point is then undefined.
 */
bool space_map(const struct space *space, const double *metrics, float *point);

/* The same in double precision, for clustering offline. */
bool space_place(const struct space *space, const double *metrics, double *point);

/*
 * Sets lowest and range from count bursts (row-major, count x dims); bursts that have no place
 * are passed over. With `keep`, ranges only grow: those that the space has are included.
 * Returns how many bursts had a place.
 */
size_t space_fit(struct space *space, const double *metrics, size_t count, bool keep);

/*
 * Where all bursts are nearly equal, scaling them to [0, 1] would blow the noise of the machine up
 * to phases. Widens each range to at least half a decade (logarithmic), or half of the largest
 * magnitude (linear); the lowest value stays.
 */
#define SPACE_LEAST_DECADES 0.5
#define SPACE_LEAST_SHARE   0.5
void space_widen(struct space *space);

#endif
