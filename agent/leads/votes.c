/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/leads/votes.h"

#include <math.h>
#include <string.h>

#include "multiplex/mix.h"

uint64_t votes_number(uint64_t shape, uint32_t rank)
{
	return mix_bits(mix_bits(shape) + (rank + UINT64_C(1)) * MIX_STEP);
}

/* Returns whether kind a comes before kind b. The numbers of their shapes are equal only if the shapes are. */
static bool comes_before(const struct vote_kind *a, const struct vote_kind *b)
{
	if (a->shape != b->shape)
		return mix_bits(a->shape) < mix_bits(b->shape);
	return a->peers < b->peers;
}

static double kind_distance(const struct vote_kind *a, const struct vote_kind *b)
{
	return fabs((double)a->to - (double)b->to) + fabs((double)a->from - (double)b->from);
}

static void add_voter(struct vote *vote, const struct voter *voter)
{
	uint64_t number = votes_number(vote->kind.shape, voter->rank);
	unsigned at = vote->voters;

	while (at && votes_number(vote->kind.shape, vote->voter[at - 1].rank) > number)
		at--;
	if (at == VOTES_RANKS_MAX)
		return;
	vote->voters -= vote->voters == VOTES_RANKS_MAX;
	memmove(&vote->voter[at + 1], &vote->voter[at],
			(vote->voters - at) * sizeof(vote->voter[0]));
	vote->voters++;
	vote->voter[at] = *voter;
}

/* Adds the ranks of a vote to another one. */
static void add_ranks(const struct vote *from, struct vote *into)
{
	into->ranks += from->ranks;
	for (unsigned v = 0; v < from->voters; v++)
		add_voter(into, &from->voter[v]);
}

/* Returns the vote on the nearest other kind of the same shape, or NULL. */
static struct vote *nearest(struct vote *all, unsigned count, const struct vote_kind *kind)
{
	struct vote *best = NULL;

	for (struct vote *vote = all; vote < all + count; vote++)
		if (vote->kind.shape == kind->shape && vote->kind.peers != kind->peers &&
				(!best ||
						kind_distance(&vote->kind, kind) <
								kind_distance(&best->kind, kind)))
			best = vote;
	return best;
}

/*
 * Returns the vote that is to join another one, or NULL if there is one of each shape. It is the one with the least cost, and
 * of equal ones the one with fewer ranks.
 */
static struct vote *find_joining(struct vote *all, unsigned count, bool medoids)
{
	struct vote *best = NULL;
	double least = 0;

	for (struct vote *vote = all; vote < all + count; vote++) {
		const struct vote *into = nearest(all, count, &vote->kind);
		double cost;

		if (!into)
			continue;
		cost = kind_distance(&vote->kind, &into->kind) * (medoids ? vote->ranks : 1);
		if (best && (cost > least || (!(cost < least) && vote->ranks >= best->ranks)))
			continue;
		best = vote;
		least = cost;
	}
	return best;
}

/* Adds a vote to the `count` of a table, which has room for one more, and returns their number. */
static unsigned insert(struct vote *all, unsigned count, const struct vote *vote)
{
	unsigned at = 0;

	while (at < count && comes_before(&all[at].kind, &vote->kind))
		at++;
	if (at < count && votes_is_kind(&all[at].kind, &vote->kind)) {
		add_ranks(vote, &all[at]);
		return count;
	}
	memmove(&all[at + 1], &all[at], (count - at) * sizeof(*all));
	all[at] = *vote;
	return count + 1;
}

/* Removes one of the votes, which joins another one if it can. */
static void remove_one(struct vote *all, unsigned count, bool medoids)
{
	struct vote *joining = find_joining(all, count, medoids);

	if (!joining)
		return;
	add_ranks(joining, nearest(all, count, &joining->kind));
	memmove(joining, joining + 1, (size_t)(all + count - joining - 1) * sizeof(*all));
}

static void add_vote(struct votes *votes, const struct vote *vote)
{
	struct vote all[VOTES_SHAPES_MAX + 1];
	unsigned count = votes->shapes;

	memcpy(all, votes->vote, count * sizeof(*all));
	count = insert(all, count, vote);
	if (count > VOTES_SHAPES_MAX)
		remove_one(all, count--, votes->medoids);
	memcpy(votes->vote, all, count * sizeof(*all));
	votes->shapes = count;
}

void votes_add(struct votes *votes, const struct vote_kind *kind, uint32_t rank, uint64_t phases)
{
	struct vote vote = { .kind = *kind, .ranks = 1, .voters = 1 };

	vote.voter[0] = (struct voter){ .rank = rank, .phases = phases };
	add_vote(votes, &vote);
}

void votes_merge(const struct votes *from, struct votes *into)
{
	into->ranks += from->ranks;
	for (unsigned i = 0; i < from->shapes; i++)
		add_vote(into, &from->vote[i]);
}

/* Returns the number up to which ranks are leads, if `readers` of them are known by their numbers. */
static uint64_t limit_known(const struct vote *vote, uint32_t readers)
{
	if (readers >= vote->ranks)
		return UINT64_MAX;
	return votes_number(vote->kind.shape,
			vote->voter[(readers < vote->voters ? readers : vote->voters) - 1].rank);
}

/* Returns the number up to which about `readers` ranks are leads, as their numbers are random. */
static uint64_t limit_auto(const struct vote *vote, uint32_t readers)
{
	uint64_t known = limit_known(vote, VOTES_RANKS_MAX), about;

	if (vote->ranks < 2 * readers)
		return UINT64_MAX;
	about = UINT64_MAX / vote->ranks * readers;
	return known > about ? known : about;
}

void votes_answer(struct votes *votes, uint32_t readers, unsigned groups)
{
	uint32_t many = VOTES_AUTO_GROUP * groups;

	votes->readers = readers;
	for (unsigned i = 0; i < votes->shapes; i++) {
		struct vote *vote = &votes->vote[i];

		vote->limit = readers ?
				limit_known(vote, readers) :
				limit_auto(vote,
						many > VOTES_AUTO_READERS ? many :
									    VOTES_AUTO_READERS);
	}
}

const struct vote *votes_find(const struct votes *votes, const struct vote_kind *kind)
{
	const struct vote *best = NULL;

	for (unsigned i = 0; i < votes->shapes; i++) {
		const struct vote *vote = &votes->vote[i];

		if (votes_is_kind(&vote->kind, kind))
			return vote;
		if (vote->kind.shape == kind->shape &&
				(!best ||
						kind_distance(&vote->kind, kind) <
								kind_distance(&best->kind, kind)))
			best = vote;
	}
	return best;
}

uint32_t vote_leads_count(const struct vote *vote)
{
	uint32_t leads = 0;

	if (vote->limit == UINT64_MAX)
		return vote->ranks;
	for (unsigned i = 0; i < vote->voters; i++)
		leads += vote_leads(vote, vote->voter[i].rank);
	/* if the last rank that is known is a lead only because its number is below the limit, others may be, too */
	return leads < VOTES_RANKS_MAX ||
					votes_number(vote->kind.shape,
							vote->voter[leads - 1].rank) ==
							vote->limit ?
			leads :
			0;
}

uint64_t vote_phases(const struct vote *vote)
{
	uint64_t phases = 0;

	for (unsigned i = 0; i < vote->voters; i++)
		if (vote_leads(vote, vote->voter[i].rank))
			phases |= vote->voter[i].phases;
	return phases;
}
