/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/room.h"

#include <stddef.h>

#include "cluster/loops/combine.h"
#include "cluster/loops/reduce.h"

#define CELLS_LOW    4                 /* free cells from which on room is made */
#define CELLS_GOAL   (LOOPS_CELLS / 4) /* free cells after tokens became holes */
#define PATIENCE_MIN 48                /* new tokens after which all are compared again ... */
#define PATIENCE_MAX 12288             /* ... at first, and if that was in vain all the time */
#define HOLE_GAP     32                /* calls between two holes, below which these are one */
#define LARGE_PART   8                 /* a loop is kept if it holds 1 / LARGE_PART of all calls */

void room_finish(struct loops *loops)
{
	unsigned tokens = loops->tokens;

	loops->appended = 0;
	loops->armed = 0;
	loops->finishing = true;
	arena_pop(loops, 0);
	for (unsigned place = 0; place < tokens; place++) {
		bool last = place + 1 == tokens;
		uint32_t next = last ? LOOPS_ANY :
				       arena_first_symbol(loops, loops->cell[place + 1]);

		arena_push(loops, loops->cell[place]);
		while (reduce_last(loops, next))
			;
	}
	loops->finishing = false;
}

/* Adds the times of all calls of a token to a slot. */
static void collect(const struct loops *loops, unsigned cell, struct loops_slot *slot)
{
	const struct loops_token *token = arena_look(loops, cell);

	if (token->kind != LOOPS_LOOP)
		slot_merge(slot, &token->slot);
	for (unsigned child = token->first; child; child = arena_look(loops, child)->next)
		collect(loops, child, slot);
}

/* Makes a token of zeros a hole of calls with these times. */
static void make_hole(struct loops *loops, struct loops_token *token,
		const struct loops_slot *times)
{
	token->kind = LOOPS_HOLE;
	token->slot = *times;
	combine_set_count(token, 1);
	/* no other token equals it */
	token->hash = (uint32_t)arena_mix(LOOPS_HOLE, ++loops->holes);
	token->shape = token->hash | 1;
	loops->unknown += times->count;
}

/* Makes a token a hole. */
static void dig(struct loops *loops, unsigned cell)
{
	struct loops_token *token = arena_token(loops, cell);
	struct loops_slot slot = { 0 };

	if (token->kind == LOOPS_HOLE)
		return;
	collect(loops, cell, &slot);
	arena_give_all(loops, cell);
	/* the cell that was freed last is the first that is taken */
	arena_take(loops);
	make_hole(loops, token, &slot);
}

/* Makes the oldest tokens holes, all or only small ones, until enough cells are free. */
static void dig_oldest(struct loops *loops, bool all)
{
	unsigned tokens = loops->tokens, kept = 0;
	uint64_t behind = 0;

	arena_pop(loops, 0);
	for (unsigned place = 0; place < tokens; place++) {
		unsigned cell = loops->cell[place];
		uint64_t calls = arena_calls(loops, cell);
		bool large = arena_look(loops, cell)->kind == LOOPS_LOOP &&
				calls >= loops->calls / LARGE_PART;
		struct loops_token *before = kept ? arena_top(loops, kept - 1) : NULL;

		behind += calls;
		if (loops->free_count < CELLS_GOAL && (all || !large))
			dig(loops, cell);
		if (arena_look(loops, cell)->kind == LOOPS_HOLE && behind > loops->last_unknown)
			loops->last_unknown = behind;
		if (before && before->kind == LOOPS_HOLE &&
				arena_look(loops, cell)->kind == LOOPS_HOLE) {
			slot_merge(&before->slot, &arena_look(loops, cell)->slot);
			before->run += arena_look(loops, cell)->run;
			arena_give(loops, cell);
		} else {
			loops->cell[kept++] = (uint16_t)cell;
		}
	}
	for (unsigned place = 0; place < kept; place++)
		arena_push(loops, loops->cell[place]);
}

/*
 * Compares all tokens again, and does so more rarely as long as this does not make the text
 * shorter.
 */
static void compare_again(struct loops *loops)
{
	unsigned before = loops->tokens;

	room_finish(loops);
	if (loops->tokens < before - before / 4)
		loops->patience = PATIENCE_MIN;
	else if (loops->patience < PATIENCE_MAX)
		loops->patience *= 2;
}

void room_make(struct loops *loops)
{
	loops->patience = loops->patience ? loops->patience : PATIENCE_MIN;
	if (loops->appended >= loops->patience && loops->tokens >= PATIENCE_MIN)
		compare_again(loops);
	if (loops->free_count >= CELLS_LOW)
		return;
	loops->armed = 0;
	dig_oldest(loops, false);
	if (loops->free_count < CELLS_GOAL / 2)
		dig_oldest(loops, true);
}

/* Returns the place of the last hole if fewer than HOLE_GAP calls are behind it, or else the number of tokens. */
static unsigned find_near_hole(const struct loops *loops)
{
	unsigned place = loops->tokens;

	for (uint64_t calls = 0; place && calls < HOLE_GAP;
			calls += arena_calls(loops, loops->cell[place]))
		if (arena_look(loops, loops->cell[--place])->kind == LOOPS_HOLE)
			return place;
	return loops->tokens;
}

/* Makes the tokens behind the hole at `place` part of it. Then it is the last token. */
static void widen_hole(struct loops *loops, unsigned place, const struct loops_slot *times)
{
	unsigned tokens = loops->tokens;
	struct loops_token *hole = arena_top(loops, place);

	arena_pop(loops, place);
	for (unsigned behind = place + 1; behind < tokens; behind++) {
		unsigned cell = loops->cell[behind];

		dig(loops, cell);
		slot_merge(&hole->slot, &arena_look(loops, cell)->slot);
		arena_give(loops, cell);
	}
	slot_merge(&hole->slot, times);
	hole->run += times->count;
	loops->unknown += times->count;
	arena_push(loops, loops->cell[place]);
}

void room_add_hole(struct loops *loops, const struct loops_slot *times)
{
	unsigned place = find_near_hole(loops), cell;

	loops->armed = 0;
	if (place < loops->tokens) {
		widen_hole(loops, place, times);
	} else {
		room_make(loops);
		cell = arena_take(loops);
		make_hole(loops, arena_token(loops, cell), times);
		arena_token(loops, cell)->run = times->count;
		arena_push(loops, cell);
		loops->appended++;
	}
	loops->last_unknown = loops->calls;
}
