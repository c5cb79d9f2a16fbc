/* SPDX-License-Identifier: BSD-3-Clause */
/* A region is ordered once the phases are steady, and requirements fall step by step if they are not. */
#include "agent/region/region_choice.h"
#include "tests/tap.h"

/* Returns a round in which one rank of two repeats a loop, with these seconds in phases 0, 1 and 2. */
static struct region_part round_of(double none, double first, double second)
{
	struct region_part part = { .ranks = 2,
		.loops = 1,
		.loop = { { .shape = 7,
				.ranks = 2,
				.least = 90,
				.most = 100,
				.rate = 50,
				.calls = 20 } },
		.seconds = { none, first, second } };

	return part;
}

/* Returns after how many rounds the region is ordered, or 0 after 60. shift: of the time between two phases, in each round. */
static unsigned rounds_until(struct steady *steady, double none, double shift)
{
	*steady = (struct steady){ .level = 0 };
	for (unsigned i = 1; i <= 60; i++) {
		struct region_part part = round_of(none, 0.5 + (i % 2 ? shift : 0),
				0.5 - (i % 2 ? shift : 0));

		if (steady_look(steady, &part))
			return i;
	}
	return 0;
}

static void test_rounds(void)
{
	struct steady steady;

	ok(rounds_until(&steady, 0, 0) == 4, "equal shares: three comparisons");
	ok(steady.level == 0 && steady.matched > 0.999, "with the highest requirements");
	ok(rounds_until(&steady, 0, 0.04) == 4 && steady.level == 0,
			"4%% of the time in another phase: the same");
	ok(rounds_until(&steady, 0, 0.08) > 4 && steady.level == 1,
			"8%%: requirements fall by a step (%u)", steady.level);
	ok(rounds_until(&steady, 0, 0.25) && steady.level == 3, "25%%: by three steps");
	ok(rounds_until(&steady, 0, 0.5) && steady.level == STEADY_LEVELS - 1,
			"nothing in common: the last step requires nothing");
	ok(rounds_until(&steady, 0.1, 0) && steady.level == 1, "time in no phase does not match");
}

static void test_interruption(void)
{
	struct steady steady = { .level = 0 };
	struct region_part same = round_of(0, 0.5, 0.5), other = round_of(0, 0.1, 0.9);
	struct region_part none = round_of(0, 0.5, 0.5), few = round_of(0, 0.5, 0.5);

	steady_look(&steady, &same);
	ok(!steady_look(&steady, &same) && !steady_look(&steady, &same),
			"two comparisons: not yet");
	ok(!steady_look(&steady, &other) && !steady_look(&steady, &same),
			"an interruption counts twice");
	ok(!steady_look(&steady, &same) && !steady_look(&steady, &same) &&
					steady_look(&steady, &same),
			"and then three in a row are needed again");
	steady = (struct steady){ .level = 0 };
	none.loops = 0;
	few.loop[0].ranks = 1;
	for (unsigned i = 0; i < 60; i++)
		ok(!steady_look(&steady, &none), "without a loop nothing is ordered");
	steady = (struct steady){ .level = 0 };
	while (!steady_look(&steady, &few))
		;
	ok(steady.level == 2, "half of the ranks in loops: after the steps that want all (%u)",
			steady.level);
}

static void test_merge(void)
{
	struct region_part all = { .ranks = 0 }, one = round_of(0.1, 0.2, 0.3);
	struct region_part many = { .ranks = 1, .loops = 1, .loop = { { .ranks = 1 } } };

	region_part_merge(&one, &all);
	one.loop[0].least = 80;
	one.loop[0].most = 110;
	region_part_merge(&one, &all);
	ok(all.loops == 1 && all.loop[0].ranks == 4 && all.ranks == 4, "ranks of one loop add up");
	ok(all.loop[0].least == 80 && all.loop[0].most == 110 && all.loop[0].calls == 40,
			"with their range, and their calls");
	ok(all.seconds[2] > 0.59 && all.seconds[2] < 0.61, "so does their time");
	for (unsigned i = 30; i; i--) {
		many.loop[0].shape = i;
		region_part_merge(&many, &all);
	}
	ok(all.loops == REGION_SHAPES_MAX, "there is room for some loops");
	for (unsigned i = 0; i < REGION_SHAPES_MAX; i++)
		ok(all.loop[i].shape == i + 1, "those with the lowest shapes");
}

static void test_order(void)
{
	struct region_part part = round_of(0, 0.5, 0.5);
	struct region_order order;
	struct region_wish six = { .iterations = 6 }, size = { .bytes = 1048576 };

	steady_order(&order, &part, &six, 0.1);
	ok(order.iterations == 6 && order.loops == 1 && order.loop[0].shape == 7,
			"as many iterations as the user wants");
	ok(order.loop[0].first == 106, "after all ranks know of it (%llu)",
			(unsigned long long)order.loop[0].first);
	part.loops = 2;
	part.loop[1] = part.loop[0];
	part.loop[1].shape = 9;
	part.loop[1].most = 103;
	steady_order(&order, &part, &six, 0.1);
	ok(order.loop[0].first == order.loop[1].first && order.loop[1].first == 109,
			"loops with about as many iterations start together");
	part.loop[1].most = 1000;
	steady_order(&order, &part, &six, 0.1);
	ok(order.loop[0].first == 106 && order.loop[1].first == 1006,
			"loops with other numbers of iterations start apart");
	part.loops = 1;
	steady_order(&order, &part, &size, 0.1);
	ok(order.iterations > 20 && order.iterations * 20 * 300 < 1048576,
			"a size stands for the iterations that fit (%llu)",
			(unsigned long long)order.iterations);
	ok(order.calls_max > 100 && order.calls_max * 2 * 300 < 1048576,
			"and bounds the calls of each rank (%llu)",
			(unsigned long long)order.calls_max);
	size.bytes = 16384;
	part.loop[0].calls = 1e6;
	steady_order(&order, &part, &size, 0.1);
	ok(order.iterations == 1 && order.calls_max < 100, "an iteration that does not fit is cut");
}

static void test_choice(void)
{
	struct region_choice choice = { .wish = { .iterations = 6 } };
	struct region_part part = round_of(0, 0.5, 0.5);

	for (unsigned i = 0; i < 4; i++)
		region_choice_look(&choice, &part, 1 + i, 1);
	ok(choice.order.iterations == 6 && choice.seconds == 4, "the fourth round orders it");
	ok(choice.order.loop[0].first == 301, "later if rounds take long");
	part.loop[0].most = 1000;
	region_choice_look(&choice, &part, 9, 1);
	ok(choice.order.loop[0].first == 301 && choice.seconds == 4, "and it is ordered once");
}

int main(void)
{
	test_rounds();
	test_interruption();
	test_merge();
	test_order();
	test_choice();
	return tap_done();
}
