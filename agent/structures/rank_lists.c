/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/structures/rank_lists.h"

struct rank_set rank_lists_read(const struct rank_lists *lists, uint32_t first)
{
	struct rank_set set = { 0 };

	for (uint32_t link = first; link && set.count < RANK_RANGES_MAX;
			link = lists->range[link - 1].next)
		set.range[set.count++] = lists->range[link - 1].ranks;
	return set;
}

void rank_lists_free(struct rank_lists *lists, uint32_t first)
{
	while (first) {
		uint32_t link = first;

		first = lists->range[link - 1].next;
		lists->range[link - 1].next = lists->free;
		lists->free = link;
	}
}

uint32_t rank_lists_add(struct rank_lists *lists, const struct rank_set *set)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < set->count; i++) {
		uint32_t link = lists->free;

		if (link)
			lists->free = lists->range[link - 1].next;
		else if (lists->used < RANK_LISTS_RANGES)
			link = ++lists->used;
		else
			break;
		lists->range[link - 1] = (struct rank_list_range){ set->range[i], first };
		first = link;
	}
	return first;
}

uint32_t rank_lists_merge(struct rank_lists *lists, uint32_t first, const struct rank_set *more)
{
	struct rank_set ranks = rank_lists_read(lists, first);

	rank_set_merge(more, &ranks);
	rank_lists_free(lists, first);
	return rank_lists_add(lists, &ranks);
}
