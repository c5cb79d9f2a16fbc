/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/iterations/anchor.h"

#include <math.h>

/*
 * Share of the rounds by which the number of pairs may differ from one in each: a loop in the body may hide a few rounds, as
 * when the first ones were folded before the loop was known.
 */
#define HIDDEN_MAX 0.02

/* Returns the last call of a token, or LOOPS_ANY of a hole. */
static uint32_t last_symbol(const struct loops *loops, unsigned cell)
{
	while (arena_look(loops, cell)->kind == LOOPS_LOOP)
		cell = arena_look(loops, cell)->last;
	return arena_look(loops, cell)->kind == LOOPS_CALL ? arena_look(loops, cell)->symbol :
							     LOOPS_ANY;
}

/* Returns the pair of calls between two tokens. */
static struct anchor pair_between(const struct loops *loops, unsigned cell, unsigned next)
{
	return (struct anchor){ last_symbol(loops, cell), arena_first_symbol(loops, next) };
}

static bool is_pair(const struct anchor *pair, struct anchor other)
{
	return pair->before == other.before && pair->at == other.at;
}

/* Returns the number of times that a token came, in all `rounds` rounds around it. It may be missing in some. */
static double uses_of(const struct loops_token *token, double rounds)
{
	return fmin((double)token->slot.count, rounds);
}

/*
 * Returns how many pairs all rounds of a loop have together, with those from the end of a round to the start of the next one.
 * closed: number of these.
 */
static double count_pairs(const struct loops *loops, unsigned loop, const struct anchor *pair,
		double closed)
{
	unsigned first = arena_look(loops, loop)->first;
	double rounds = (double)arena_look(loops, loop)->slot.count, pairs = 0;

	for (unsigned cell = first; cell; cell = arena_look(loops, cell)->next) {
		const struct loops_token *token = arena_look(loops, cell);
		unsigned next = token->next ? token->next : first;
		double uses = uses_of(token, rounds), again = (double)token->slot.count - uses;

		if (token->kind == LOOPS_LOOP)
			pairs += count_pairs(loops, cell, pair, again);
		else if (is_pair(pair, (struct anchor){ token->symbol, token->symbol }))
			pairs += again;
		uses = fmin(uses, uses_of(arena_look(loops, next), rounds));
		if (is_pair(pair, pair_between(loops, cell, next)))
			pairs += token->next ? uses : fmin(uses, closed);
	}
	return pairs;
}

static bool is_in_each_round(const struct loops *loops, unsigned loop, const struct anchor *pair)
{
	double rounds = (double)arena_look(loops, loop)->slot.count;

	return fabs(count_pairs(loops, loop, pair, rounds) - rounds) <= HIDDEN_MAX * rounds;
}

/* Returns how often all rounds of a loop make a call. */
static double count_calls(const struct loops *loops, unsigned loop, uint32_t symbol)
{
	double calls = 0;

	for (unsigned cell = arena_look(loops, loop)->first; cell;
			cell = arena_look(loops, cell)->next) {
		const struct loops_token *token = arena_look(loops, cell);

		if (token->kind == LOOPS_LOOP)
			calls += count_calls(loops, cell, symbol);
		else if (token->kind == LOOPS_CALL && token->symbol == symbol)
			calls += (double)token->slot.count;
	}
	return calls;
}

bool anchor_is_of(const struct loops *loops, unsigned cell, const struct anchor *anchor)
{
	const struct loops_token *token = arena_look(loops, cell);

	if (token->kind == LOOPS_CALL)
		return is_pair(anchor, (struct anchor){ token->symbol, token->symbol });
	return token->kind == LOOPS_LOOP && is_in_each_round(loops, cell, anchor);
}

bool anchor_find(const struct loops *loops, unsigned cell, struct anchor *anchor)
{
	const struct loops_token *token = arena_look(loops, cell);
	unsigned first = token->first;
	double rounds = (double)token->slot.count, least = 0;

	*anchor = (struct anchor){ token->symbol, token->symbol };
	if (token->kind != LOOPS_LOOP)
		return token->kind == LOOPS_CALL;
	for (unsigned at = first; at && !(least > 0 && least <= rounds);
			at = arena_look(loops, at)->next) {
		unsigned next = arena_look(loops, at)->next;
		struct anchor pair = pair_between(loops, at, next ? next : first);
		double calls;

		if (pair.before == LOOPS_ANY || pair.at == LOOPS_ANY ||
				!is_in_each_round(loops, cell, &pair))
			continue;
		calls = count_calls(loops, cell, pair.at);
		if (least > 0 && calls >= least)
			continue;
		least = calls;
		*anchor = pair;
	}
	return least > 0;
}
