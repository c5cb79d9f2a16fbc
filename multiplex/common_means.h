/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The means of the common events (cycles and instructions) over all bursts of a phase. They are those of the
 * bursts that were read. The length of every burst is known, also of those that were not read. If the read
 * bursts are longer or shorter than all, the means are moved along with the length (two-phase regression and
 * ratio estimators: Cochran, Sampling Techniques, 12.6 and 6.4).
 */
#ifndef PHASEMUX_MULTIPLEX_COMMON_MEANS_H
#define PHASEMUX_MULTIPLEX_COMMON_MEANS_H

#include "multiplex/estimate.h"

/*
 * Fills PHASE_X1 ... PHASE_V22 of a phase's block (multiplex/moments.h), whose other fields are known. aux:
 * number of common events, at most AUX_MAX. duration: the mean length of all bursts with its interval, NULL if
 * it is not known.
 */
void common_means(double *all, unsigned aux, const struct estimate *duration);

#endif
