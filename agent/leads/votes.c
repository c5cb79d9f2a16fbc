/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/leads/votes.h"

#include <string.h>

#include "multiplex/mix.h"

uint64_t votes_number(uint64_t shape, uint32_t rank)
{
	return mix_bits(mix_bits(shape) + (rank + UINT64_C(1)) * MIX_STEP);
}

/* Returns whether shape a comes before shape b. Their numbers are equal only if they are. */
static bool comes_before(uint64_t a, uint64_t b)
{
	return mix_bits(a) < mix_bits(b);
}

/* Returns the vote on a shape, which is added if it is missing; NULL: there is no room. */
static struct vote *vote_on(struct votes *votes, uint64_t shape)
{
	unsigned at = 0;

	while (at < votes->shapes && comes_before(votes->vote[at].shape, shape))
		at++;
	if (at < votes->shapes && votes->vote[at].shape == shape)
		return &votes->vote[at];
	if (at == VOTES_SHAPES_MAX)
		return NULL;
	votes->shapes -= votes->shapes == VOTES_SHAPES_MAX;
	memmove(&votes->vote[at + 1], &votes->vote[at],
			(votes->shapes - at) * sizeof(votes->vote[0]));
	votes->shapes++;
	votes->vote[at] = (struct vote){ .shape = shape };
	return &votes->vote[at];
}

static void add_voter(struct vote *vote, const struct voter *voter)
{
	uint64_t number = votes_number(vote->shape, voter->rank);
	unsigned at = vote->voters;

	while (at && votes_number(vote->shape, vote->voter[at - 1].rank) > number)
		at--;
	if (at == VOTES_RANKS_MAX)
		return;
	vote->voters -= vote->voters == VOTES_RANKS_MAX;
	memmove(&vote->voter[at + 1], &vote->voter[at],
			(vote->voters - at) * sizeof(vote->voter[0]));
	vote->voters++;
	vote->voter[at] = *voter;
}

void votes_add(struct votes *votes, uint64_t shape, uint32_t rank, uint64_t phases)
{
	struct vote *vote = vote_on(votes, shape);

	if (!vote)
		return;
	vote->ranks++;
	add_voter(vote, &(struct voter){ .rank = rank, .phases = phases });
}

void votes_merge(const struct votes *from, struct votes *into)
{
	into->ranks += from->ranks;
	for (unsigned i = 0; i < from->shapes; i++) {
		const struct vote *vote = &from->vote[i];
		struct vote *sum = vote_on(into, vote->shape);

		if (!sum)
			return;
		sum->ranks += vote->ranks;
		for (unsigned v = 0; v < vote->voters; v++)
			add_voter(sum, &vote->voter[v]);
	}
}

/* Returns the number up to which ranks are leads, if `readers` of them are known by their numbers. */
static uint64_t limit_known(const struct vote *vote, uint32_t readers)
{
	if (readers >= vote->ranks)
		return UINT64_MAX;
	return votes_number(vote->shape,
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

const struct vote *votes_find(const struct votes *votes, uint64_t shape)
{
	for (unsigned i = 0; i < votes->shapes; i++)
		if (votes->vote[i].shape == shape)
			return &votes->vote[i];
	return NULL;
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
					votes_number(vote->shape, vote->voter[leads - 1].rank) ==
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
