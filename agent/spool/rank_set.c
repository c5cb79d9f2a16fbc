/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/rank_set.h"

#include <stdbool.h>

/* Makes one range of two, if their ranks have one distance. a: the one that begins at the lower rank. */
static bool range_join(const struct rank_range *a, const struct rank_range *b,
		struct rank_range *joined)
{
	uint32_t step = a->count > 1 ? a->step : b->count > 1 ? b->step : b->first - a->first;

	if ((b->count > 1 && b->step != step) || b->first != a->first + a->count * step)
		return false;
	*joined = (struct rank_range){ a->first, step, a->count + b->count };
	return true;
}

/* Takes a range from the set that can be joined with `range`, and joins it. Returns false if there is none. */
static bool absorb(struct rank_set *set, struct rank_range *range)
{
	for (uint32_t i = 0; i < set->count; i++) {
		struct rank_range known = set->range[i], new = *range;

		if (known.first < new.first ? range_join(&known, &new, range) :
					      range_join(&new, &known, range)) {
			set->range[i] = set->range[--set->count];
			return true;
		}
	}
	return false;
}

void rank_set_add(struct rank_set *set, struct rank_range range)
{
	/* the longer range may be joined with others in turn */
	while (absorb(set, &range))
		;
	if (set->count < RANK_RANGES_MAX)
		set->range[set->count++] = range;
}

void rank_set_merge(const struct rank_set *from, struct rank_set *into)
{
	for (uint32_t i = 0; i < from->count; i++)
		rank_set_add(into, from->range[i]);
}
