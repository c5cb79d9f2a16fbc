/* SPDX-License-Identifier: BSD-3-Clause */
/* Which bursts are worth clustering (thesis 4.2.1). */
#ifndef PHASEMUX_CLUSTER_FILTER_H
#define PHASEMUX_CLUSTER_FILTER_H

#include <stddef.h>

/*
 * The duration below which bursts can be left out so that those that remain, the longest, hold at
 * least `share` (0 .. 1) of the time: the longest such threshold, itself a duration that is kept, but
 * lowered to the next gap between durations where one is near, so as not to cut through a phase.
 * Reorders duration[count]. 0 when there are none.
 */
double filter_shortest(double *duration, size_t count, double share);

#endif
