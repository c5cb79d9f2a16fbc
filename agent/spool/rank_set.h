/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A set of ranks as a bounded list of ranges: those of one line of a grid, of one column, or of every second
 * process are one range.
 */
#ifndef PHASEMUX_AGENT_SPOOL_RANK_SET_H
#define PHASEMUX_AGENT_SPOOL_RANK_SET_H

#include <stdint.h>

#define RANK_RANGES_MAX 64

/* `count` ranks (> 0): `first`, and each further one `step` (> 0) above the one before. */
struct rank_range {
	uint32_t first, step, count;
};

/* Plain data; zeros are an empty set. Ranges do not overlap. Those that found no room are missing. */
struct rank_set {
	uint32_t count;
	struct rank_range range[RANK_RANGES_MAX];
};

/* Adds a range of ranks of which none is in the set. */
void rank_set_add(struct rank_set *set, struct rank_range range);

/* Adds the ranks of `from`, of which none is in `into`. */
void rank_set_merge(const struct rank_set *from, struct rank_set *into);

#endif
