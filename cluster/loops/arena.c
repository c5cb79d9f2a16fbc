/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/arena.h"

#include <string.h>

void arena_init(struct loops *loops)
{
	loops->exact = UINT64_MAX;
	loops->fresh = 1;
	loops->free_count = LOOPS_CELLS - 1;
}

unsigned arena_take(struct loops *loops)
{
	unsigned cell = loops->free;

	if (cell)
		loops->free = arena_token(loops, cell)->next;
	else if (loops->fresh < LOOPS_CELLS)
		cell = loops->fresh++;
	else
		return 0;
	loops->free_count--;
	memset(&loops->arena[cell], 0, sizeof(loops->arena[cell]));
	return cell;
}

static void arena_put(struct loops *loops, unsigned cell)
{
	struct loops_token *token = arena_token(loops, cell);

	token->kind = LOOPS_FREE;
	token->next = loops->free;
	loops->free = (uint16_t)cell;
	loops->free_count++;
}

void arena_give_counts(struct loops *loops, struct loops_token *token)
{
	unsigned part = token->counts;

	while (part) {
		unsigned next = loops->arena[part].chunk.next;

		arena_put(loops, part);
		loops->counts_cells--;
		part = next;
	}
	token->counts = 0;
}

void arena_give(struct loops *loops, unsigned cell)
{
	arena_give_counts(loops, arena_token(loops, cell));
	arena_put(loops, cell);
}

void arena_give_all(struct loops *loops, unsigned cell)
{
	unsigned child = arena_look(loops, cell)->first;

	while (child) {
		unsigned next = arena_look(loops, child)->next;

		arena_give_all(loops, child);
		child = next;
	}
	arena_give(loops, cell);
}

/*
 * Adds the calls of one use of a token to those of a round. Returns 0 if they are too many or vary.
 */
static uint32_t add_calls(uint32_t calls, const struct loops_token *token)
{
	uint64_t once = token->kind == LOOPS_CALL ? 1 : token->calls;

	if (!once || token->counts || token->lossy || token->count > LOOPS_ROUND_MAX)
		return 0;
	once = once * token->count + calls;
	return once <= LOOPS_ROUND_MAX ? (uint32_t)once : 0;
}

static void refresh_body(struct loops *loops, struct loops_token *token)
{
	uint64_t hash = LOOPS_LOOP, shape = LOOPS_LOOP;
	uint32_t calls = 0;
	bool expected = true;

	token->depth = 1;
	token->length = 0;
	token->symbol = 0;
	for (unsigned cell = token->first; cell; cell = arena_look(loops, cell)->next) {
		const struct loops_token *child = arena_look(loops, cell);

		hash = arena_mix(hash, child->hash);
		shape = arena_mix(shape, child->shape);
		if (child->depth >= token->depth)
			token->depth = (uint8_t)(child->depth + 1);
		token->length++;
		token->symbol += child->kind == LOOPS_CALL;
		token->last = (uint16_t)cell;
		calls = expected ? add_calls(calls, child) : 0;
		expected = calls != 0;
	}
	token->calls = (uint16_t)calls;
	token->hash = (uint32_t)hash;
	token->shape = (uint32_t)shape;
}

void arena_refresh(struct loops *loops, unsigned cell)
{
	struct loops_token *token = arena_token(loops, cell);
	uint64_t hash;

	if (token->kind == LOOPS_HOLE)
		return;
	if (token->kind == LOOPS_LOOP) {
		refresh_body(loops, token);
		hash = token->hash;
	} else {
		hash = arena_mix(LOOPS_CALL, token->symbol);
		token->shape = (uint32_t)hash;
	}
	token->shape |= 1;
	hash = arena_mix(hash, (uint64_t)token->least << 32 | token->most);
	token->hash = (uint32_t)arena_mix(hash, token->count);
}

void arena_refresh_last(struct loops *loops)
{
	unsigned place = loops->tokens - 1u;

	arena_refresh(loops, loops->cell[place]);
	loops->hash[place] = arena_top(loops, place)->hash;
}

void arena_push(struct loops *loops, unsigned cell)
{
	struct loops_token *token = arena_token(loops, cell);
	unsigned place = loops->tokens++;
	uint16_t *head;

	token->next = 0;
	loops->cell[place] = (uint16_t)cell;
	arena_refresh_last(loops);
	loops->shape[place] = token->shape;
	head = &loops->head[token->shape % LOOPS_CHAINS];
	loops->before[place] = *head;
	*head = loops->tokens;
	loops->loop_before[place] = 0;
	if (place)
		loops->loop_before[place] = loops->end_shape[place - 1] ?
				(uint16_t)place :
				loops->loop_before[place - 1];
	loops->end_shape[place] = 0;
	if (!token->first)
		return;
	loops->end_shape[place] = arena_look(loops, token->last)->shape;
	head = &loops->end_head[loops->end_shape[place] % LOOPS_CHAINS];
	loops->end_before[place] = *head;
	*head = loops->tokens;
}

void arena_pop(struct loops *loops, unsigned tokens)
{
	while (loops->tokens > tokens) {
		unsigned place = --loops->tokens;
		uint32_t end = loops->end_shape[place];

		loops->head[loops->shape[place] % LOOPS_CHAINS] = loops->before[place];
		if (end)
			loops->end_head[end % LOOPS_CHAINS] = loops->end_before[place];
	}
}

uint64_t arena_calls(const struct loops *loops, unsigned cell)
{
	const struct loops_token *token = arena_look(loops, cell);
	uint64_t calls = 0;

	if (token->kind != LOOPS_LOOP)
		return token->slot.count;
	for (unsigned child = token->first; child; child = arena_look(loops, child)->next)
		calls += arena_calls(loops, child);
	return calls;
}

uint32_t arena_first_symbol(const struct loops *loops, unsigned cell)
{
	const struct loops_token *token = arena_look(loops, cell);

	while (token->kind == LOOPS_LOOP)
		token = arena_look(loops, token->first);
	return token->kind == LOOPS_CALL ? token->symbol : LOOPS_ANY;
}
