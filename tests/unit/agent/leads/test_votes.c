/* SPDX-License-Identifier: BSD-3-Clause */
/* Votes are merged to the same result in any order and in any tree, and its size is bounded. */
#include "agent/leads/votes.h"
#include "tests/random.h"
#include "tests/tap.h"

#define RANKS 300

static struct votes one[RANKS], other[RANKS];
/* Returns a kind of ranks whose peers are not known. */
static const struct vote_kind *kind(uint64_t shape)
{
	static struct vote_kind of;

	of = (struct vote_kind){ .shape = shape };
	return &of;
}

/* Each rank votes for up to three of `shapes` shapes. */
static void vote(struct votes *votes, unsigned shapes)
{
	memset(votes, 0, RANKS * sizeof(*votes));
	for (uint32_t rank = 0; rank < RANKS; rank++) {
		unsigned first = below(shapes);

		for (unsigned i = 0; i < 1 + below(3) && i < shapes; i++)
			votes_add(&votes[rank], kind(1000 + (first + i) % shapes), rank,
					UINT64_C(1) << below(64));
	}
}

/* Merges all votes into the first of them: two that are chosen at random, until one is left. */
static void merge_at_random(struct votes *votes)
{
	for (unsigned left = RANKS; left > 1; left--) {
		unsigned a = below(left), b = below(left - 1);
		struct votes last;

		b += b >= a;
		votes_merge(&votes[a], &votes[b]);
		last = votes[left - 1];
		votes[a] = last;
	}
}

static void merge_in_a_row(struct votes *votes)
{
	for (unsigned rank = 1; rank < RANKS; rank++)
		votes_merge(&votes[rank], &votes[0]);
}

static void test_order(unsigned shapes)
{
	bool equal = true;

	for (int i = 0; i < 100; i++) {
		vote(one, shapes);
		memcpy(other, one, sizeof(one));
		merge_in_a_row(one);
		merge_at_random(other);
		equal = equal && memcmp(&one[0], &other[0], sizeof(one[0])) == 0;
	}
	ok(equal, "%u shapes: the order of merging does not matter", shapes);
	is_int(one[0].shapes, shapes < VOTES_SHAPES_MAX ? shapes : VOTES_SHAPES_MAX,
			"their number is bounded");
}

/* The peer counts the ranks that voted for each shape, and looks for the least numbers among all of them. */
static void test_peer(void)
{
	bool ranks = true, least = true;
	struct votes all;

	vote(one, 40);
	memcpy(other, one, sizeof(one));
	merge_at_random(other);
	all = other[0];
	for (unsigned i = 0; i < all.shapes; i++) {
		uint64_t shape = all.vote[i].kind.shape, highest;
		uint32_t count = 0, below_highest = 0;

		highest = votes_number(shape, all.vote[i].voter[all.vote[i].voters - 1].rank);
		for (unsigned rank = 0; rank < RANKS; rank++)
			if (votes_find(&one[rank], kind(shape))) {
				count++;
				below_highest += votes_number(shape, rank) <= highest;
			}
		ranks = ranks && count == all.vote[i].ranks;
		least = least && below_highest == all.vote[i].voters;
	}
	ok(ranks, "the ranks of each shape that is kept are all counted");
	ok(least, "the ranks with the least numbers are known");
}

static unsigned leads_of(const struct vote *vote, uint32_t ranks)
{
	unsigned leads = 0;

	for (uint32_t rank = 0; rank < ranks; rank++)
		leads += vote_leads(vote, rank);
	return leads;
}

/* Makes the answer to votes of `ranks` ranks for one shape. */
static const struct vote *answer(uint32_t ranks, uint32_t readers, unsigned groups)
{
	memset(&one[0], 0, sizeof(one[0]));
	for (uint32_t rank = 0; rank < ranks; rank++)
		votes_add(&one[0], kind(7), rank, UINT64_C(1) << rank % 64);
	votes_answer(&one[0], readers, groups);
	return votes_find(&one[0], kind(7));
}

static void test_leads(void)
{
	unsigned leads;
	bool exact = true;

	for (uint32_t readers = 1; readers <= VOTES_RANKS_MAX; readers++)
		exact = exact && leads_of(answer(100, readers, 4), 100) == readers;
	ok(exact, "a shape has as many leads as it should");
	is_int(leads_of(answer(3, 5, 4), 3), 3, "but not more than ranks");
	is_int(leads_of(answer(31, 0, 4), 31), 31, "auto: of few ranks, all read");
	leads = leads_of(answer(100000, 0, 4), 100000);
	ok(leads >= VOTES_RANKS_MAX && leads <= 40, "auto: of many ranks, some 16 read (%u do)",
			leads);
	leads = leads_of(answer(100000, 0, 20), 100000);
	ok(leads >= 40 && leads <= 130, "auto: of more groups, some 80 read (%u do)", leads);
	is_int(leads_of(answer(159, 0, 20), 159), 159,
			"auto: and all, if they are less than twice as many");
	answer(20, 1, 4);
	ok(vote_phases(votes_find(&one[0], kind(7))) == UINT64_C(1) << one[0].vote[0].voter[0].rank,
			"the phases of a shape are those of its leads");
	ok(!votes_find(&one[0], kind(8)), "no other shape is known");
}

/* Returns the kind of ranks that send to the relative rank `to`. */
static struct vote_kind sends_to(int to)
{
	return (struct vote_kind){ .shape = 7, .peers = 100 + (uint64_t)to, .to = (float)to };
}

/* Adds the votes of `ranks` ranks that send to `to`. */
static void add_senders(struct votes *votes, int to, uint32_t ranks)
{
	static uint32_t rank;
	const struct vote_kind of = sends_to(to);

	while (ranks--)
		votes_add(votes, &of, rank++, 1);
}

static uint32_t ranks_with(const struct votes *votes, int to)
{
	const struct vote_kind of = sends_to(to);

	return votes_find(votes, &of)->ranks;
}

/* Kinds of one shape that find no room join the nearest one. */
static void test_peers(void)
{
	const struct vote_kind eight = { .shape = 8 };
	struct votes all = { .medoids = 0 }, medoids = { .medoids = 1 };

	add_senders(&all, 0, 5);
	add_senders(&all, 10, 3);
	is_int(all.shapes, 2, "kinds of one shape with other peers are two");
	ok(ranks_with(&all, 0) == 5 && ranks_with(&all, 10) == 3, "each has its ranks");
	is_int(ranks_with(&all, 2), 5, "other peers are of the nearest kind");
	/* with 17 kinds: of 0 and 1, many ranks, the distance is 1, and of 1,000 and 1,010, one rank each, it is 10 */
	for (struct votes *votes = &all; votes; votes = votes == &all ? &medoids : NULL) {
		*votes = (struct votes){ .medoids = votes->medoids };
		add_senders(votes, 0, 50);
		add_senders(votes, 1, 40);
		for (int i = 0; i < 13; i++)
			add_senders(votes, 2000 + 100 * i, 1);
		add_senders(votes, 1000, 1);
		add_senders(votes, 1010, 1);
	}
	ok(all.shapes == VOTES_SHAPES_MAX && medoids.shapes == VOTES_SHAPES_MAX,
			"of too many kinds, one joins another");
	is_int(ranks_with(&all, 1), 90, "K-farthest: the one that is nearest to another");
	is_int(ranks_with(&all, 1010), 1, "and those that are far from others stay");
	is_int(ranks_with(&medoids, 1), 40, "K-medoids: many ranks stay apart");
	is_int(ranks_with(&medoids, 1010), 2, "and few are joined over a longer distance");
	votes_add(&all, &eight, 1, 1);
	ok(all.shapes == VOTES_SHAPES_MAX && votes_find(&all, &eight),
			"another shape finds room, as long as kinds can join");
}

int main(void)
{
	test_order(1);
	test_order(7);
	test_order(VOTES_SHAPES_MAX);
	test_order(60);
	test_peer();
	test_leads();
	test_peers();
	return tap_done();
}
