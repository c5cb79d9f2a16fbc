/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitions of bursts: label[i] is 0 for noise, else the number of the burst's cluster, from 1.
 */
#ifndef PHASEMUX_CLUSTER_SEQUENCE_PARTITION_H
#define PHASEMUX_CLUSTER_SEQUENCE_PARTITION_H

#include <stddef.h>
#include <stdint.h>

/*
 * Renumbers clusters 1 .. clusters by their time, most first, without gaps. Equal ones are in the order of
 * their first bursts. Returns the number of clusters that have bursts, or -ENOMEM.
 */
int partition_by_time(uint32_t *label, uint32_t clusters, const double *duration, size_t count);

/*
 * Returns the adjusted Rand index of two partitions (Hubert and Arabie 1985): 1 if they are equal, 0
 * on average for independent ones. Noise counts as one cluster. Returns NAN if there is no memory.
 */
double partition_agreement(const uint32_t *a, const uint32_t *b, size_t count);

/*
 * Returns the time-weighted variance of the points within their clusters, summed over the dimensions, without
 * noise. Returns NAN if there is no memory or no cluster.
 */
double partition_spread(const uint32_t *label, uint32_t clusters, const double *points,
		uint32_t dims, const double *duration, size_t count);

#endif
