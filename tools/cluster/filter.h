/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the bursts that are long enough to be clustered (thesis 4.2.1). */
#ifndef PHASEMUX_TOOLS_CLUSTER_FILTER_H
#define PHASEMUX_TOOLS_CLUSTER_FILTER_H

#include <stddef.h>

/*
 * Returns the duration below which bursts can be left out, so that those that remain have at least `share` (0
 * .. 1) of the time. It is the longest such threshold, which is itself a duration that is kept. It is lowered
 * to the next gap between durations if one is near, so that it does not cut through a phase. Reorders
 * duration[count]. Returns 0 if there are no bursts.
 */
double filter_shortest(double *duration, size_t count, double share);

#endif
