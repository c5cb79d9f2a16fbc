/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests sets of ranks. An array of all ranks is the peer. */
#include "agent/spool/rank_set.h"
#include "tests/random.h"
#include "tests/tap.h"

#define RANKS 64

/* Returns how often a rank is in the set. */
static unsigned count_rank(const struct rank_set *set, uint32_t rank)
{
	unsigned found = 0;

	for (uint32_t i = 0; i < set->count; i++)
		for (uint32_t k = 0; k < set->range[i].count; k++)
			found += set->range[i].first + k * set->range[i].step == rank;
	return found;
}

/* Adds the ranks of which `wanted` is true, in a random order, to several sets that are then merged. */
static struct rank_set random_set(const bool wanted[RANKS])
{
	struct rank_set set[4] = { { 0 } };
	uint32_t order[RANKS];

	for (uint32_t i = 0; i < RANKS; i++) {
		unsigned at = below(i + 1);

		order[i] = order[at];
		order[at] = i;
	}
	for (uint32_t i = 0; i < RANKS; i++)
		if (wanted[order[i]])
			rank_set_add(&set[below(4)], (struct rank_range){ order[i], 1, 1 });
	for (unsigned i = 1; i < 4; i++)
		rank_set_merge(&set[i], &set[0]);
	return set[0];
}

static void test_random(void)
{
	unsigned wrong = 0;

	for (unsigned trial = 0; trial < 2000; trial++) {
		unsigned step = 1 + below(9), chance = 1 + below(4);
		bool wanted[RANKS];
		struct rank_set set;

		for (uint32_t rank = 0; rank < RANKS; rank++)
			wanted[rank] = rank % step == 0 && below(chance) == 0;
		set = random_set(wanted);
		for (uint32_t rank = 0; rank < RANKS; rank++)
			wrong += count_rank(&set, rank) != wanted[rank];
	}
	is_int(wrong, 0, "ranks that were added are in the set once, and no other ones");
}

static void test_ranges(void)
{
	struct rank_set line = { 0 }, column = { 0 };

	for (uint32_t rank = 0; rank < 1000; rank++)
		rank_set_add(&line, (struct rank_range){ 5 + rank, 1, 1 });
	ok(line.count == 1 && line.range[0].first == 5 && line.range[0].step == 1 &&
					line.range[0].count == 1000,
			"ranks in a row are one range");
	for (uint32_t rank = 1000; rank; rank--)
		rank_set_add(&column, (struct rank_range){ 16 * rank, 1, 1 });
	ok(column.count == 1 && column.range[0].first == 16 && column.range[0].step == 16 &&
					column.range[0].count == 1000,
			"a column of a grid is one range, also from its end on");
}

static void test_full(void)
{
	struct rank_set set = { 0 };
	uint32_t rank = 0, found = 0;

	/* distances that grow: two ranks are a range */
	for (uint32_t i = 1; i <= 2 * RANK_RANGES_MAX; i++, rank += i * i)
		rank_set_add(&set, (struct rank_range){ rank, 1, 1 });
	for (uint32_t i = 0; i < set.count; i++)
		found += set.range[i].count;
	ok(set.count == RANK_RANGES_MAX && found == 2 * RANK_RANGES_MAX,
			"a set has room for its ranges");
	rank_set_add(&set, (struct rank_range){ rank + 1, 1, 1 });
	ok(set.count == RANK_RANGES_MAX && !count_rank(&set, rank + 1),
			"one that has no room is missing");
}

int main(void)
{
	test_random();
	test_ranges();
	test_full();
	return tap_done();
}
