/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests how phases are distributed over ranks: random ranks, merged in the order of a tree and one after the other, give
 * what a plain loop over all of them gives.
 */
#include <math.h>
#include <stdlib.h>

#include "agent/ranks/use_list.h"
#include "multiplex/estimate/layout.h"
#include "tests/tap.h"

#define RANKS_MAX  37
#define PROTOTYPES 9
#define PHASES     4

static uint64_t state = 88172645463325252u;

/* Returns a random number from 0 to 1. */
static double draw(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) * 0x1p-53;
}

static struct rank_use use[RANKS_MAX];
/* Phase 4 has no prototype, and prototype 5 is in no phase. */
static const struct phase_labels labels = { PHASES, { 1, 2, 3, 1, 2, 0, 3, 3, 1 } };

/* Some ranks do nothing in some prototypes, and some do next to nothing. */
static void draw_ranks(unsigned ranks)
{
	memset(use, 0, sizeof(use));
	for (unsigned r = 0; r < ranks; r++)
		for (unsigned p = 0; p < PROTOTYPES; p++) {
			struct phase_use *of = &use[r].use[p];
			double size = draw() < 0.3 ? 0 : draw() < 0.2 ? 1e-4 : 1;

			of->bursts = floor(1000 * draw() * size);
			of->seconds = of->bursts * draw() * 1e-3;
			of->counted = draw() < 0.1 ? 0 : of->bursts * (0.5 + draw());
			of->cycles = of->counted * (1 + draw()) * 1e6;
			of->instructions = of->counted * (1 + draw()) * 1e6;
		}
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fmax(fabs(a), fabs(b));
}

/* What one rank does in a phase, as a plain loop says. */
struct plain {
	double seconds, bursts, counted, cycles, instructions;
};

static struct plain plain_rank(unsigned rank, uint32_t phase)
{
	struct plain sum = { 0 };

	for (unsigned p = 0; p < PROTOTYPES; p++) {
		const struct phase_use *of = &use[rank].use[p];

		if (labels.phase[p] != phase)
			continue;
		sum.seconds += of->seconds;
		sum.bursts += of->bursts;
		if (of->counted > 0) {
			sum.counted += of->bursts;
			sum.cycles += of->cycles / of->counted * of->bursts;
			sum.instructions += of->instructions / of->counted * of->bursts;
		}
	}
	return sum;
}

static bool is_right(const struct phase_rank *got, unsigned ranks, uint32_t phase)
{
	struct phase_rank want = { 0 };

	for (unsigned r = 0; r < ranks; r++)
		want.most = fmax(want.most, plain_rank(r, phase).seconds);
	for (unsigned r = ranks; r-- > 0;) {
		struct plain rank = plain_rank(r, phase);

		if (!(rank.seconds > 0) || rank.seconds < 0.01 * want.most)
			continue;
		want.ranks++;
		want.seconds += rank.seconds;
		if (near(rank.seconds, want.most))
			want.slowest = r;
		if (!(rank.counted > 0))
			continue;
		rank.instructions *= rank.bursts / rank.counted;
		rank.cycles *= rank.bursts / rank.counted;
		want.counted++;
		want.ipc += rank.instructions / rank.cycles;
		want.ipc_most = fmax(want.ipc_most, rank.instructions / rank.cycles);
		want.instructions += rank.instructions;
		want.instructions_most = fmax(want.instructions_most, rank.instructions);
	}
	return got->ranks == want.ranks && got->slowest == want.slowest &&
			got->counted == want.counted && near(got->seconds, want.seconds) &&
			near(got->most, want.most) && near(got->ipc, want.ipc) &&
			near(got->ipc_most, want.ipc_most) &&
			near(got->instructions, want.instructions) &&
			near(got->instructions_most, want.instructions_most);
}

static bool all_right(const struct phase_ranks *all, unsigned ranks)
{
	bool right = all->phases == PHASES;

	for (uint32_t phase = 1; phase <= PHASES; phase++)
		right = right && is_right(&all->phase[phase - 1], ranks, phase);
	return right;
}

/* Merges as the ranks do it: along a binomial tree, after they have agreed on the maxima. */
static void merge_tree(struct phase_ranks *part, unsigned ranks)
{
	double most[PROTOTYPES_MAX] = { 0 };
	struct iteration_spreads spreads;
	struct rank_use by_phase;

	for (unsigned r = 0; r < ranks; r++) {
		rank_use_by_phase(&use[r], &labels, &by_phase);
		rank_use_most(&by_phase, most);
	}
	for (unsigned r = 0; r < ranks; r++) {
		part[r] = (struct phase_ranks){ 0 };
		rank_use_by_phase(&use[r], &labels, &by_phase);
		iteration_spreads_of(use[r].iterations, labels.phase, &spreads);
		phase_ranks_add(&part[r], labels.phases, r, &by_phase, most, &spreads);
	}
	for (unsigned step = 1; step < ranks; step *= 2)
		for (unsigned r = 0; r + step < ranks; r += 2 * step)
			phase_ranks_merge(&part[r + step], &part[r]);
}

static void test_random(void)
{
	static struct phase_ranks part[RANKS_MAX];
	unsigned tree = 0, list = 0, rounds = 0;

	for (; rounds < 200; rounds++) {
		unsigned ranks = 1 + (unsigned)(draw() * RANKS_MAX);
		struct use_list all = { 0 };

		draw_ranks(ranks);
		merge_tree(part, ranks);
		tree += all_right(&part[0], ranks);
		for (unsigned r = ranks; r-- > 0;)
			use_list_add(&all, r, &use[r], PROTOTYPES);
		use_list_ranks(&all, &labels, &part[0]);
		list += all_right(&part[0], ranks);
		use_list_fini(&all);
	}
	ok(tree == rounds, "%u of %u times, ranks merged along a tree give the plain sums", tree,
			rounds);
	ok(list == rounds, "%u of %u times, so do processes in the reverse order", list, rounds);
}

static void test_ties(void)
{
	struct phase_ranks a = { .phases = 1,
		.phase = { { .ranks = 1, .slowest = 7, .seconds = 2, .most = 2 } } };
	struct phase_ranks b = { .phases = 1,
		.phase = { { .ranks = 1, .slowest = 3, .seconds = 2, .most = 2 } } };
	struct phase_ranks c = b, none = { .phases = 1 };

	phase_ranks_merge(&a, &c);
	phase_ranks_merge(&b, &a);
	ok(a.phase[0].slowest == 3 && c.phase[0].slowest == 3,
			"of equally slow ranks, the lowest one is the slowest");
	phase_ranks_merge(&none, &a);
	phase_ranks_merge(&a, &none);
	ok(memcmp(&a.phase[0], &none.phase[0], sizeof(a.phase[0])) == 0 && a.phase[0].ranks == 2,
			"a rank that does not execute the phase changes nothing");
}

/* Fills the sums of one rank, and what others did is subtracted from the sums of all. */
static void test_sums(void)
{
	struct plan plan = { .events = 2, .common = 2, .groups = 1 };
	struct unread *unread = calloc(1, sizeof(*unread));
	struct rank_use first, both;
	struct sums *sums;
	double *common;

	plan.group[0] = (struct plan_group){ .count = 2, .event = { 0, 1 } };
	sums = sums_new(&plan, PROTOTYPES_MAX);
	common = sums_common(sums, 1);
	common[BLOCK_READ] = 2;
	common[BLOCK_W] = 4;
	common[BLOCK_X1] = 400;
	common[BLOCK_X2] = 800;
	common[COMMON_ELAPSED] = 3;
	unread->prototype[1] = (struct tally){ 6, 5 };
	rank_use_of(&first, 3, sums, unread);
	ok(first.use[1].seconds == 8 && first.use[1].bursts == 8 && first.use[1].counted == 4 &&
					first.use[1].instructions == 800 &&
					first.use[0].bursts == 0,
			"a prototype has the bursts that were read, and those that were placed");
	common[COMMON_ELAPSED] += 2;
	common[BLOCK_READ] += 1;
	rank_use_of(&both, 3, sums, unread);
	rank_use_subtract(&both, &first);
	ok(both.use[1].seconds == 2 && both.use[1].bursts == 1 && both.use[1].cycles == 0,
			"what one process added is the difference");
	sums_free(sums);
	free(unread);
}

static void test_labels(void)
{
	struct prototype_table *table = calloc(1, sizeof(*table));
	struct plan plan = { .events = 2, .common = 2, .groups = 1 };
	struct phase_labels filled;
	struct sums *sums;

	plan.group[0] = (struct plan_group){ .count = 2, .event = { 0, 1 } };
	sums = sums_new(&plan, PROTOTYPES_MAX);
	table->count = 3;
	table->phases = 2;
	table->all[0].phase = 2;
	table->all[1].phase = 1;
	table->all[2].phase = 2;
	for (unsigned p = 0; p < 2; p++) {
		sums_common(sums, p)[BLOCK_READ] = 10;
		sums_common(sums, p)[COMMON_ELAPSED] = p ? 1e-3 : 1e-5;
	}
	phase_labels_fill(&filled, table, sums, 1e-5);
	ok(filled.phases == 2 && !filled.phase[0] && filled.phase[1] == 1 && filled.phase[2] == 2,
			"prototypes of short bursts are in no phase");
	sums_free(sums);
	free(table);
}

static struct route route_at(uint64_t from, uint64_t to, uint32_t prototype, double seconds)
{
	return (struct route){ .from = { 1, 1, { from } },
		.to = { 2, 1, { to } },
		.seconds = seconds,
		.prototype = prototype };
}

/* Phases 1 and 4 have the place of phase 2; all ranks execute phase 3, whose place is also the same. */
static void test_sets(void)
{
	const struct phase_labels four = { 4, { 1, 2, 3, 4, 4 } };
	struct phase_ranks *ranks = calloc(1, sizeof(*ranks));
	struct phase_sets *sets = calloc(1, sizeof(*sets));
	struct routes *routes = calloc(1, sizeof(*routes));
	struct phase_labels of_sets;

	ranks->phases = 4;
	for (uint32_t i = 0; i < 4; i++)
		ranks->phase[i].ranks = i == 2 ? 4 : i ? 1 : 2;
	routes->count = 6;
	for (uint32_t p = 0; p < 4; p++)
		routes->route[p] = route_at(10, 20, p, 2);
	routes->route[4] = route_at(10, 30, 4, 1);
	routes->route[5] = route_at(10, 20, PROTOTYPES_MAX, 9);
	phase_sets_find(sets, &four, ranks, 4, routes);
	phase_sets_label(sets, &four, &of_sets);
	ok(sets->count == 1 && sets->set[0] == 1 && sets->set[1] == 1 && !sets->set[2] &&
					sets->set[3] == 1 && of_sets.phases == 1 &&
					of_sets.phase[0] == 1 && !of_sets.phase[2] &&
					of_sets.phase[4] == 1,
			"phases of one place are a set if not all ranks execute them");
	sets->ranks.phases = 1;
	sets->ranks.phase[0].ranks = 4;
	ok(phase_sets_of(sets, ranks, 2) == &sets->ranks.phase[0] && !phase_sets_of(sets, ranks, 3),
			"each of them has the balance of the set");
	sets->ranks.phase[0].ranks = 2;
	ok(!phase_sets_of(sets, ranks, 2),
			"not if one of them is executed by all ranks of the set");
	routes->route[4].seconds = 3;
	phase_sets_find(sets, &four, ranks, 4, routes);
	ok(sets->set[1] == 1 && !sets->set[3], "the place of a phase is that of its longest route");
	routes->route[1].to.place[0] = 21;
	phase_sets_find(sets, &four, ranks, 4, routes);
	ok(!sets->count && !sets->set[0], "a single phase is no set");
	free(ranks);
	free(sets);
	free(routes);
}

int main(void)
{
	test_sets();
	test_random();
	test_ties();
	test_sums();
	test_labels();
	return tap_done();
}
