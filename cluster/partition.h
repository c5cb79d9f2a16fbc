/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitions of bursts: label[i] is 0 for noise, else the number of the burst's cluster, from 1.
 */
#ifndef PHASEMUX_CLUSTER_PARTITION_H
#define PHASEMUX_CLUSTER_PARTITION_H

#include <stddef.h>
#include <stdint.h>

/*
 * Renumbers clusters 1 .. clusters by their time, most first (of equal ones, the one whose first
 * burst comes first), without gaps. Returns how many have bursts, or -ENOMEM.
 */
int partition_by_time(uint32_t *label, uint32_t clusters, const double *duration, size_t count);

/*
 * The adjusted Rand index of two partitions (Hubert and Arabie 1985): 1 where they are the same, 0
 * on average for independent ones. Noise counts as one cluster. NAN without memory.
 */
double partition_agreement(const uint32_t *a, const uint32_t *b, size_t count);

/*
 * Time-weighted variance of the points within their clusters, summed over the dimensions, noise
 * left out; NAN without memory or clusters.
 */
double partition_spread(const uint32_t *label, uint32_t clusters, const double *points,
		uint32_t dims, const double *duration, size_t count);

#endif
