/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Splits clusters of a sample by place. A place is the code that a burst ran, given by the call paths of the
 * two calls around it. Bursts of different places are one phase if they cost alike and the
 * program runs them interchangeably. They are phases of their own if the program runs them in an
 * order of its own, or if each of them is tighter than the cluster. The threads of a process may reach
 * one piece of code over different call paths. Therefore places are not split if no thread runs both.
 *
 * Each burst says how regular its place is: how often the code before it, or the code after it, tells that it
 * is this place. This is the idea of the Cluster Sequence Score (thesis ch. 5), for a random sample, which does
 * not have the sequences themselves. A program may have thousands of places, so only those that have a stated
 * share of their cluster's time are considered.
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
	const double *near;     /* by dimension: largest distance of parts of one length */
	const double *duration; /* > 0, any unit */
	const uint32_t *task;   /* that executed it, 0 .. tasks - 1 */
	uint32_t tasks;
	const uint32_t *process;  /* of the task */
	const uint32_t *place;    /* 0: not known */
	const float *regular;     /* how regular its task runs the place, 0 .. 1; < 0: not known */
	const uint32_t *previous; /* phase of the burst until now; 0: none */
	uint32_t *label;          /* in and out: 0 noise, else 1 .. clusters */
	uint32_t clusters;        /* in and out */
	/*
	 * out: the burst's place if that gets prototypes of its own, even if its cluster is not split; else 0
	 */
	uint32_t *own;
};

/* Splits the clusters. Returns 0 or -ENOMEM. Afterwards the clusters' numbers are in order of their time. */
int by_place_split(struct by_place *sample);

#endif
