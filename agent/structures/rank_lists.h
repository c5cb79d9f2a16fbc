/* SPDX-License-Identifier: BSD-3-Clause */
/* Sets of ranks that share one bounded table of ranges, for tables of which all processes send a copy. */
#ifndef PHASEMUX_AGENT_STRUCTURES_RANK_LISTS_H
#define PHASEMUX_AGENT_STRUCTURES_RANK_LISTS_H

#include <stdint.h>

#include "agent/spool/rank_set.h"

#define RANK_LISTS_RANGES 1024

/* A range of one of the sets, or one that is free. */
struct rank_list_range {
	struct rank_range ranks;
	uint32_t next; /* number of the next one, plus 1; 0: none */
};

/* Plain data; zeros are an empty table. A set is the number of its first range, plus 1; 0: it is empty. */
struct rank_lists {
	uint32_t used, free; /* ranges that were ever used; the first free one, as `next` */
	struct rank_list_range range[RANK_LISTS_RANGES];
};

/* Returns a set. Ranks that found no room are missing. */
struct rank_set rank_lists_read(const struct rank_lists *lists, uint32_t first);

/* Removes a set. */
void rank_lists_free(struct rank_lists *lists, uint32_t first);

/* Adds a set, as far as there is room. Returns the number of its first range, plus 1, or 0. */
uint32_t rank_lists_add(struct rank_lists *lists, const struct rank_set *set);

/* Adds ranks, of which none is in it, to a set. Returns its new number. */
uint32_t rank_lists_merge(struct rank_lists *lists, uint32_t first, const struct rank_set *more);

#endif
