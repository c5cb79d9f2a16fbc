/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits clusters of a sample by place. A place is the code that a burst ran: the call paths of the
 * two calls that it ran between. Bursts of different places are one phase when they cost alike and the
 * program runs them interchangeably. They are phases of their own when the program runs them in an
 * order of its own, or when each of them is tighter than the cluster is. The threads of a process reach
 * the same code over different call paths: places that no thread runs both of are not split.
 *
 * How regular a place is comes with each of its bursts: how often the code before it, or the code after
 * it, tells that it is this place. This is the idea of the Cluster Sequence Score (thesis ch. 5), for a
 * random sample, which does not hold the sequences themselves. A program may have thousands of places, so
 * only those that hold a stated share of their cluster's time are looked at.
 */
#ifndef PHASEMUX_CLUSTER_BY_PLACE_H
#define PHASEMUX_CLUSTER_BY_PLACE_H

#include <stddef.h>
#include <stdint.h>

/* Arrays of `count`, owned by the caller. */
struct by_place {
	uint32_t dims;
	size_t count;
	const double *point;    /* count x dims, scaled to 0 .. 1 */
	const double *near;     /* by dimension: how far apart parts of one length may be */
	const double *duration; /* > 0, any unit */
	const uint32_t *task;   /* who executed it, 0 .. tasks - 1 */
	uint32_t tasks;
	const uint32_t *process; /* of the task */
	const uint32_t *place;   /* 0: not known */
	const float *regular;    /* how regular its task runs the place, 0 .. 1; < 0: not known */
	const uint32_t *was;     /* phase that the burst has had up to now; 0: none */
	uint32_t *label;         /* in and out: 0 noise, else 1 .. clusters */
	uint32_t clusters;       /* in and out */
	/* out: the burst's place if it gets prototypes of its own, whether its cluster is split or not; else 0 */
	uint32_t *own;
};

/* Returns 0 or -ENOMEM. The numbers of the clusters are in order of their time afterwards. */
int by_place_split(struct by_place *sample);

#endif
