/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the clusters of a random sample of bursts, which does not contain the sequences of the tasks. If
 * possible the tasks are sampled alike: the sample then also has the corresponding bursts of other tasks.
 */
#ifndef PHASEMUX_CLUSTER_SAMPLE_CLUSTERS_H
#define PHASEMUX_CLUSTER_SAMPLE_CLUSTERS_H

#include <stddef.h>
#include <stdint.h>

/* A sample. The arrays have `count` elements, and belong to the caller. */
struct sample_clusters {
	uint32_t dims;
	size_t count;
	const double *point;    /* count x dims, scaled to 0 .. 1 */
	const double *duration; /* > 0, any unit */
	const uint32_t *task;   /* without gaps: 0 .. tasks - 1 */
	uint32_t tasks;
	const uint64_t *execution; /* equal for bursts that correspond to each other */
	uint32_t *label;           /* out: 0 noise, else 1 .. clusters */
	uint32_t clusters;         /* out */
};

/* Labels the bursts. Returns 0 or -ENOMEM. */
int sample_clusters_find(struct sample_clusters *sample);

#endif
