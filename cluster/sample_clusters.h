/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The clusters of a sample of bursts: a random one, so that the sequences of the tasks are not in it,
 * but one in which the tasks are sampled alike, where it could be had: who else executed a burst
 * that is in the sample is then in it, too.
 */
#ifndef PHASEMUX_CLUSTER_SAMPLE_CLUSTERS_H
#define PHASEMUX_CLUSTER_SAMPLE_CLUSTERS_H

#include <stddef.h>
#include <stdint.h>

/* Arrays of `count`, owned by the caller. */
struct sample_clusters {
	uint32_t dims;
	size_t count;
	const double *point;    /* count x dims, scaled to 0 .. 1 */
	const double *duration; /* > 0, any unit */
	const uint32_t *task;   /* without gaps: 0 .. tasks - 1 */
	uint32_t tasks;
	const uint64_t *execution; /* the same for bursts that correspond to each other */
	uint32_t *label;           /* out: 0 noise, else 1 .. clusters */
	uint32_t clusters;         /* out */
};

/* 0 or -ENOMEM. */
int sample_clusters_find(struct sample_clusters *sample);

#endif
