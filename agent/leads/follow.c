/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/leads/follow.h"

#include <string.h>

/* The calls of a body in their order, while they are gathered. */
struct gathering {
	struct follow *follow;
	const struct loops *loops;
	uint16_t number[LOOPS_CELLS]; /* number of the first call of the token in a cell */
	uint16_t parent[LOOPS_CELLS]; /* cell of the loop around a token */
};

/* Numbers the calls of a loop's body. Returns false if one is a hole, or there is no room. */
static bool number_calls(struct gathering *gathering, unsigned loop)
{
	struct follow *follow = gathering->follow;

	for (unsigned cell = arena_look(gathering->loops, loop)->first; cell;
			cell = arena_look(gathering->loops, cell)->next) {
		const struct loops_token *token = arena_look(gathering->loops, cell);

		gathering->number[cell] = follow->calls;
		gathering->parent[cell] = (uint16_t)loop;
		if (token->kind == LOOPS_LOOP) {
			if (!number_calls(gathering, cell))
				return false;
			continue;
		}
		if (token->kind != LOOPS_CALL || follow->calls == FOLLOW_CALLS_MAX)
			return false;
		follow->call[follow->calls++].symbol = token->symbol;
	}
	return true;
}

/* Adds a call that may come after another one. Returns false if there is no room. */
static bool add_next(struct follow_call *call, unsigned next)
{
	for (unsigned i = 0; i < call->nexts; i++)
		if (call->next[i] == next)
			return true;
	if (call->nexts == FOLLOW_NEXT_MAX)
		return false;
	call->next[call->nexts++] = (uint8_t)next;
	return true;
}

static bool repeats(const struct loops_token *token)
{
	return token->most > 1 || token->count > 1;
}

/*
 * Finds the calls that may come after the token in `cell`, which is a call: the call again, the next token of the body,
 * or the start of each loop that ends with it, up to the loop `root`. What continues the text comes first.
 */
static bool find_next(struct gathering *gathering, unsigned cell, unsigned root)
{
	struct follow_call *call = &gathering->follow->call[gathering->number[cell]];
	unsigned around = gathering->parent[cell];
	const struct loops_token *token = arena_look(gathering->loops, cell);

	if (repeats(token) && !add_next(call, gathering->number[cell]))
		return false;
	while (!token->next) {
		token = arena_look(gathering->loops, around);
		if ((around == root || repeats(token)) &&
				!add_next(call, gathering->number[token->first]))
			return false;
		if (around == root)
			return true;
		around = gathering->parent[around];
	}
	return add_next(call, gathering->number[token->next]);
}

static bool connect(struct gathering *gathering, unsigned loop, unsigned root)
{
	for (unsigned cell = arena_look(gathering->loops, loop)->first; cell;
			cell = arena_look(gathering->loops, cell)->next) {
		bool inner = arena_look(gathering->loops, cell)->kind == LOOPS_LOOP;

		if (!(inner ? connect(gathering, cell, root) : find_next(gathering, cell, root)))
			return false;
	}
	return true;
}

bool follow_make(struct follow *follow, const struct loops *loops, unsigned cell)
{
	struct gathering gathering = { .follow = follow, .loops = loops };

	memset(follow, 0, sizeof(*follow));
	if (arena_look(loops, cell)->kind == LOOPS_CALL) {
		follow->calls = 1;
		follow->call[0] = (struct follow_call){ arena_look(loops, cell)->symbol, 1, { 0 } };
		return true;
	}
	if (!number_calls(&gathering, cell) || !follow->calls || !connect(&gathering, cell, cell))
		return false;
	follow->at = (uint16_t)(follow->calls - 1);
	return true;
}

/* Returns the first call of the loop that has the symbol, from number `from` on, or `calls` if there is none. */
static unsigned find_call(const struct follow *follow, uint32_t symbol, unsigned from)
{
	while (from < follow->calls && follow->call[from].symbol != symbol)
		from++;
	return from;
}

/* Goes to a call with the symbol that may come after `last`. Returns false if there is none. */
static bool step_from(struct follow *follow, const struct follow_call *last, uint32_t symbol)
{
	for (unsigned i = 0; i < last->nexts; i++)
		if (follow->call[last->next[i]].symbol == symbol) {
			follow->at = last->next[i];
			return true;
		}
	return false;
}

bool follow_start(struct follow *follow, uint32_t symbol)
{
	unsigned first = find_call(follow, symbol, 0);

	if (first == follow->calls)
		return false;
	follow->at = (uint16_t)first;
	return true;
}

bool follow_join(struct follow *follow, uint32_t last, uint32_t symbol)
{
	for (unsigned i = find_call(follow, last, 0); i < follow->calls;
			i = find_call(follow, last, i + 1))
		if (step_from(follow, &follow->call[i], symbol))
			return true;
	return false;
}

bool follow_search(struct follow *follow, uint32_t symbol)
{
	const struct follow_call *last;

	if (follow->at == FOLLOW_LOST)
		return follow_start(follow, symbol);
	last = &follow->call[follow->at];
	return step_from(follow, last, symbol) || follow_join(follow, last->symbol, symbol);
}

bool follow_has(const struct follow *follow, uint32_t symbol)
{
	return find_call(follow, symbol, 0) < follow->calls;
}
