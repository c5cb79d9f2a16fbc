/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Distribution of the computing time over the lengths of bursts: time per bin, with four bins for each octave.
 * Histograms can be added. One gives the shortest burst with which a wanted share of the time is kept (thesis
 * 4.2.1).
 */
#ifndef PHASEMUX_AGENT_THREAD_HISTOGRAM_H
#define PHASEMUX_AGENT_THREAD_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_BINS 256

/* Returns the bin of a length in ticks: the position of its highest bit, and the two bits after it. */
static inline unsigned histogram_bin(uint64_t ticks)
{
	unsigned high;

	if (__builtin_expect(ticks < 4, 0))
		return (unsigned)ticks;
	high = 63 - (unsigned)__builtin_clzll(ticks);
	return high * 4 + (unsigned)((ticks >> (high - 2)) & 3);
}

/* Returns the smallest length in ticks that falls into the bin. */
static inline uint64_t histogram_floor(unsigned bin)
{
	if (bin < 8)
		return bin < 4 ? bin : 4;
	return (uint64_t)(4 + bin % 4) << (bin / 4 - 2);
}

/* Returns the longest length in ticks such that bursts of at least this length hold `share` of all the time. */
static inline uint64_t histogram_keep(const double ticks_per_bin[HISTOGRAM_BINS], double share)
{
	double total = 0, dropped = 0;
	unsigned bin = 0;

	for (unsigned i = 0; i < HISTOGRAM_BINS; i++)
		total += ticks_per_bin[i];
	while (total > 0 && bin < HISTOGRAM_BINS - 1 &&
			dropped + ticks_per_bin[bin] <= (1 - share) * total)
		dropped += ticks_per_bin[bin++];
	return histogram_floor(bin);
}

#endif
