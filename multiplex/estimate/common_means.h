/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The means of the common events (cycles and instructions) over all bursts of a phase. They are those of the
 * bursts that were read. The length of every burst is known, also of those that were not read. If the read
 * bursts are longer or shorter than all, the means are moved along with the length (two-phase regression and
 * ratio estimators: Cochran, Sampling Techniques, 12.6 and 6.4). Two things would mislead a regression: one read burst
 * that another program delayed may decide on the slope alone, so the slope is limited; and the unread bursts may have
 * lengths that none of the read ones has, so the error is larger then.
 */
#ifndef PHASEMUX_MULTIPLEX_ESTIMATE_COMMON_MEANS_H
#define PHASEMUX_MULTIPLEX_ESTIMATE_COMMON_MEANS_H

/*
 * Fills PHASE_X1 ... PHASE_V22 of a phase's block (multiplex/estimate/moments.h), whose other fields are
 * known. aux: number of common events, at most LAYOUT_AUX_MAX. seconds: the mean length of all bursts, NAN if
 * it is not known. seconds_ci95: half-width of its 95% interval.
 */
void common_means(double *all, unsigned aux, double seconds, double seconds_ci95);

#endif
