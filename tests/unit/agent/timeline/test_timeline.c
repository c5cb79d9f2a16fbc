/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the timeline: time lies in its bins, and no tick is lost when bins double their width, when more prototypes than have
 * a place share a bin, and when timelines are merged in any order. Phases get the times of the report, and ranks that are
 * alike are one group.
 */
#include <stdlib.h>
#include <string.h>

#include "agent/timeline/list.h"
#include "tests/tap.h"

#define START 1000000
#define WIDTH 100

static struct timeline_bin bins[8][TIMELINE_BINS];

static void start(struct timeline *timeline, unsigned number)
{
	memset(bins[number], 0, sizeof(bins[number]));
	timeline_init(timeline, bins[number], TIMELINE_BINS, START, WIDTH);
}

/* Returns the ticks of a prototype in a bin, or of all prototypes with -1. */
static uint64_t ticks_in(const struct timeline_bin *bin, int prototype)
{
	uint64_t ticks = 0;

	for (unsigned i = 0; i < TIMELINE_PLACES; i++)
		if (bin->prototype[i] && (prototype < 0 || bin->prototype[i] == prototype + 1))
			ticks += bin->ticks[i];
	return ticks;
}

/* Returns the ticks of all bins and kinds. */
static uint64_t all_ticks(const struct timeline *timeline)
{
	uint64_t ticks = 0;

	for (unsigned b = 0; b < TIMELINE_BINS; b++) {
		ticks += ticks_in(&timeline->bin[b], -1);
		for (unsigned k = 0; k < TIMELINE_KINDS; k++)
			ticks += timeline->bin[b].kind_ticks[k];
	}
	return ticks;
}

static void test_bins(void)
{
	struct timeline timeline;

	start(&timeline, 0);
	timeline_add_prototype(&timeline, 7, START, START + 40, 40);
	timeline_add_prototype(&timeline, 7, START + 60, START + 100, 40);
	timeline_add(&timeline, TIMELINE_CALLS, START + 40, START + 60, 20);
	is_int((long long)ticks_in(&bins[0][0], 7), 80, "a bin has the time of a prototype");
	is_int((long long)bins[0][0].kind_ticks[TIMELINE_CALLS], 20, "and the time in calls");
	is_int(timeline.used, 1, "an end on a border is of the first bin");
	timeline_add_prototype(&timeline, 3, START + 150, START + 370, 220);
	ok(ticks_in(&bins[0][1], 3) == 50 && ticks_in(&bins[0][2], 3) == 100 &&
					ticks_in(&bins[0][3], 3) == 70,
			"a long burst is divided among its bins");
	timeline_add(&timeline, TIMELINE_NO_PHASE, START + 150, START + 250, 11);
	ok(bins[0][1].kind_ticks[TIMELINE_NO_PHASE] == 5 &&
					bins[0][2].kind_ticks[TIMELINE_NO_PHASE] == 6,
			"so is time that lies somewhere between two times");
	timeline_add(&timeline, TIMELINE_CALLS, START - 500, START + 10, 10);
	is_int((long long)bins[0][0].kind_ticks[TIMELINE_CALLS], 30,
			"time from before the start is of the first bin");
	timeline_add(&timeline, TIMELINE_CALLS, START + 900, UINT64_MAX, 10);
	is_int(timeline.used, 4, "impossible times are dropped");
}

static void test_places(void)
{
	struct timeline timeline;

	start(&timeline, 0);
	for (unsigned p = 0; p < TIMELINE_PLACES; p++)
		timeline_add_prototype(&timeline, p, START, START + 10, 10 + p);
	timeline_add_prototype(&timeline, 99, START, START + 5, 5);
	is_int((long long)bins[0][0].kind_ticks[TIMELINE_REST], 5,
			"a small ninth prototype has no place");
	timeline_add_prototype(&timeline, 98, START, START + 50, 50);
	ok(ticks_in(&bins[0][0], 98) == 50 && !ticks_in(&bins[0][0], 0) &&
					bins[0][0].kind_ticks[TIMELINE_REST] == 15,
			"a large one takes the place of the smallest one");
}

/* Adds pseudo-random times up to `end` ticks after the start. Returns the ticks that were added. */
static uint64_t add_some(struct timeline *timeline, unsigned prototypes, uint64_t end,
		unsigned seed)
{
	uint64_t at = 0, sum = 0;

	srand(seed);
	while (at < end) {
		uint64_t ticks = 1 + (uint64_t)rand() % 300;

		if (rand() % 3)
			timeline_add_prototype(timeline, (unsigned)rand() % prototypes, START + at,
					START + at + ticks, ticks);
		else
			timeline_add(timeline, (enum timeline_kind)(rand() % TIMELINE_KINDS),
					START + at, START + at + ticks, ticks);
		at += ticks;
		sum += ticks;
	}
	return sum;
}

static void test_doubling(void)
{
	struct timeline timeline, wide;
	uint64_t sum;
	bool same = true;

	start(&timeline, 0);
	sum = add_some(&timeline, 5, 100 * WIDTH * TIMELINE_BINS, 1);
	is_int((long long)all_ticks(&timeline), (long long)sum,
			"no tick is lost in seven doublings");
	is_int((long long)timeline.width, 128 * WIDTH, "the width doubled as often as needed");
	ok(timeline.used > TIMELINE_BINS / 2 && timeline.used <= TIMELINE_BINS,
			"more than half of the bins are in use: %u", timeline.used);
	memset(bins[1], 0, sizeof(bins[1]));
	timeline_init(&wide, bins[1], TIMELINE_BINS, START, 128 * WIDTH);
	add_some(&wide, 5, 100 * WIDTH * TIMELINE_BINS, 1);
	for (unsigned b = 0; b < TIMELINE_BINS; b++)
		for (int p = 0; p < 5; p++)
			same &= ticks_in(&bins[0][b], p) == ticks_in(&bins[1][b], p);
	ok(same, "bins that doubled hold what bins that were wide from the start hold");
	start(&timeline, 0);
	sum = add_some(&timeline, 40, 9 * WIDTH * TIMELINE_BINS, 2);
	is_int((long long)all_ticks(&timeline), (long long)sum,
			"no tick is lost if prototypes have no place");
}

static bool same_bins(const struct timeline *one, const struct timeline *other)
{
	bool same = one->width == other->width && one->used == other->used;

	for (unsigned b = 0; b < TIMELINE_BINS && same; b++) {
		for (int p = 0; p < 8; p++)
			same &= ticks_in(&one->bin[b], p) == ticks_in(&other->bin[b], p);
		for (unsigned k = 0; k < TIMELINE_KINDS; k++)
			same &= one->bin[b].kind_ticks[k] == other->bin[b].kind_ticks[k];
	}
	return same;
}

/* Pours a timeline of four bins, which has what came since the last time, into a large one after three bursts each. */
static void test_small(void)
{
	struct timeline small, large, whole;
	uint64_t at = START;

	start(&whole, 0);
	start(&large, 1);
	start(&small, 2);
	timeline_init(&small, bins[2], 4, START, WIDTH);
	for (unsigned i = 0; i < 3000; i++) {
		uint64_t ticks = 11 + 7 * (i % 3);

		timeline_add_prototype(&small, i % 5, at, at + ticks, ticks);
		timeline_add_prototype(&whole, i % 5, at, at + ticks, ticks);
		at += ticks;
		if (i % 3 == 2) {
			timeline_pour(&large, &small, at);
			timeline_follow(&small, &large, at);
		}
	}
	ok(same_bins(&whole, &large), "what goes through a small timeline lies where it belongs");
	timeline_add(&small, TIMELINE_CALLS, at, at + 40000, 40000);
	timeline_add(&whole, TIMELINE_CALLS, at, at + 40000, 40000);
	timeline_pour(&large, &small, at + 40000);
	is_int((long long)all_ticks(&large), (long long)all_ticks(&whole),
			"a long time that does not fit is not lost");
	is_int((long long)large.used, (long long)whole.used, "and ends where it ended");
}

static void test_pour(void)
{
	struct timeline part[3], left, right;
	uint64_t sum = 0;

	for (unsigned i = 0; i < 3; i++) {
		start(&part[i], i);
		sum += add_some(&part[i], 8, (1 + 3 * i) * WIDTH * TIMELINE_BINS / 2, i + 1);
	}
	for (unsigned i = 3; i < 5; i++)
		memset(bins[i], 0, sizeof(bins[i]));
	timeline_init(&left, bins[3], TIMELINE_BINS, START, 4 * WIDTH);
	timeline_init(&right, bins[4], TIMELINE_BINS, START, 4 * WIDTH);
	for (unsigned i = 0; i < 3; i++) {
		timeline_pour(&left, &part[i], UINT64_MAX);
		timeline_pour(&right, &part[2 - i], UINT64_MAX);
	}
	ok(same_bins(&left, &right), "timelines are added in any order");
	is_int((long long)all_ticks(&left), (long long)sum, "and keep the sum");
}

static void test_changes(void)
{
	struct timeline timeline;
	struct timeline_range range;

	start(&timeline, 0);
	range = timeline_take_changes(&timeline);
	ok(range.from >= range.until, "nothing has changed at first");
	timeline_add(&timeline, TIMELINE_CALLS, START, START + 250, 250);
	range = timeline_take_changes(&timeline);
	ok(range.from == 0 && range.until == 3, "three bins have changed");
	timeline_add(&timeline, TIMELINE_CALLS, START + 250, START + 260, 10);
	range = timeline_take_changes(&timeline);
	ok(range.from == 2 && range.until == 3, "then the current one");
	timeline_add(&timeline, TIMELINE_CALLS, START + 110, START + 120, 10);
	range = timeline_take_changes(&timeline);
	ok(range.from == 1 && range.until == 3, "then an older one, too");
	timeline_add(&timeline, TIMELINE_CALLS, START + 250, START + 300 * WIDTH, 10);
	range = timeline_take_changes(&timeline);
	ok(range.from == 0 && range.until >= 150, "all of them after a doubling");
}

static double column_sum(const struct timeline_groups *groups, unsigned group, unsigned column)
{
	double sum = 0;

	for (unsigned b = 0; b < groups->bins; b++)
		sum += (double)groups->group[group].seconds[b][column];
	return sum;
}

static const struct timeline_labels labels = { .phases = 2,
	.phase = { 1, 2 },
	.column = { 1, 2, 2 } };

/*
 * Adds a rank whose prototype 0 runs in its first half, and 1 and 2 in the second one, of 256 bins of 1 us. A part of the
 * time of each was not classified. late: the halves are the other way round.
 */
static void add_rank(struct timeline_list *list, uint32_t rank, bool late)
{
	double seconds[3] = { 100e-6, 60e-6, 40e-6 };
	struct timeline_of_process process = { .ns_per_tick = 10,
		.threads = 1,
		.compute = 210e-6,
		.rank = rank,
		.prototypes = 3,
		.seconds = seconds };
	struct timeline *timeline = &process.timeline;

	start(timeline, 0);
	for (unsigned b = 0; b < TIMELINE_BINS; b++) {
		uint64_t at = START + b * WIDTH;
		bool first = (b < TIMELINE_BINS / 2) != late;

		if (b % 4)
			timeline_add_prototype(timeline, first ? 0 : 1 + b % 2, at, at + 80, 80);
		else
			timeline_add(timeline, TIMELINE_UNPLACED, at, at + 80, 80);
		timeline_add(timeline, b % 2 ? TIMELINE_CALLS : TIMELINE_RESTED, at + 80, at + 100,
				20);
	}
	ok(timeline_list_add(list, &process) == 0, "rank %u is added", rank);
}

static void test_groups(void)
{
	struct timeline_groups *groups = calloc(3, sizeof(*groups));
	struct timeline_list list = { 0 }, others = { 0 };
	double early = 0, all;

	for (uint32_t rank = 0; rank < 4; rank++)
		add_rank(rank < 3 ? &list : &others, rank, rank == 1);
	timeline_list_groups(&list, &labels, &groups[0]);
	is_int(groups[0].count, 2, "ranks that are alike are one group");
	ok(groups[0].group[0].ranks == 2 && groups[0].group[0].lowest == 0 &&
					groups[0].group[0].highest == 2,
			"it has its ranks");
	is_near(column_sum(&groups[0], 0, 0), 200e-6, 1e-10, "a phase has the time of the report");
	is_near(column_sum(&groups[0], 0, 1), 200e-6, 1e-10, "of all of its prototypes");
	is_near(column_sum(&groups[0], 0, TIMELINE_OTHER), 20e-6, 1e-10,
			"other computing is the rest");
	for (unsigned b = 0; b < TIMELINE_BINS / 2; b++)
		early += (double)groups[0].group[0].seconds[b][0];
	ok(early > 0.9 * 200e-6,
			"a phase is where it ran, also as far as it was not classified: %g", early);
	all = 0;
	for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
		all += column_sum(&groups[0], 0, c);
	is_near(all, 2 * 256e-6, 1e-9, "all columns have all time");
	timeline_list_groups(&others, &labels, &groups[1]);
	groups[2] = groups[1];
	timeline_groups_merge(&groups[0], &groups[1]);
	timeline_groups_merge(&groups[2], &groups[0]);
	ok(groups[0].count == 2 && groups[1].count == 2, "groups are merged with groups");
	is_near(column_sum(&groups[0], 0, 0) + column_sum(&groups[0], 1, 0),
			column_sum(&groups[1], 0, 0) + column_sum(&groups[1], 1, 0), 1e-10,
			"in either order with the same sums");
	timeline_list_fini(&list);
	timeline_list_fini(&others);
	free(groups);
}

/* Ranks that spend all of their time in one bin each, of which no two are alike. */
static void test_many_groups(void)
{
	struct timeline_groups *groups = calloc(2, sizeof(*groups));
	double seconds = 0, threads = 0;
	unsigned ranks = 0;

	for (uint32_t rank = 0; rank < 40; rank++) {
		struct timeline_groups *one = &groups[1];

		memset(one, 0, sizeof(*one));
		one->bin_seconds = rank % 2 ? 1 : 2;
		one->bins = rank % 2 ? 256 : 128;
		one->count = 1;
		one->group[0] = (struct timeline_group){ .ranks = 1,
			.lowest = rank,
			.highest = rank,
			.threads = 2 };
		one->group[0].seconds[rank * 3][rank % TIMELINE_COLUMNS] = 1;
		timeline_groups_merge(one, &groups[0]);
	}
	for (unsigned g = 0; g < groups->count; g++) {
		ranks += groups->group[g].ranks;
		threads += (double)groups->group[g].threads;
		for (unsigned c = 0; c < TIMELINE_COLUMNS; c++)
			seconds += column_sum(groups, g, c);
	}
	ok(groups->count > 1 && groups->count <= TIMELINE_GROUPS_MAX,
			"the number of groups is bounded: %u", groups->count);
	ok(ranks == 40 && threads > 79.9 && threads < 80.1, "no rank is lost");
	is_near(seconds, 40, 1e-4, "and no time");
	is_near(groups->bin_seconds, 2, 1e-9,
			"bins of different widths become as wide as the widest");
	free(groups);
}

int main(void)
{
	test_bins();
	test_places();
	test_doubling();
	test_small();
	test_pour();
	test_changes();
	test_groups();
	test_many_groups();
	return tap_done();
}
