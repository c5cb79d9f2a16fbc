/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/combine.h"

#include "cluster/loops/counts.h"

bool combine_is_equal(const struct loops *loops, unsigned a, unsigned b)
{
	const struct loops_token *x = arena_look(loops, a), *y = arena_look(loops, b);
	unsigned in_x = x->first, in_y = y->first;

	if (x->kind != y->kind || x->hash != y->hash || x->kind == LOOPS_HOLE ||
			x->symbol != y->symbol || !counts_equal(loops, x, y))
		return false;
	while (in_x && in_y && combine_is_equal(loops, in_x, in_y)) {
		in_x = arena_look(loops, in_x)->next;
		in_y = arena_look(loops, in_y)->next;
	}
	return !in_x && !in_y;
}

bool combine_is_alike(const struct loops *loops, unsigned a, unsigned b)
{
	const struct loops_token *x = arena_look(loops, a), *y = arena_look(loops, b);
	unsigned in_x = x->first, in_y = y->first;

	if (x->kind != y->kind || x->shape != y->shape || x->kind == LOOPS_HOLE ||
			x->symbol != y->symbol)
		return false;
	while (in_x && in_y && combine_is_alike(loops, in_x, in_y)) {
		in_x = arena_look(loops, in_x)->next;
		in_y = arena_look(loops, in_y)->next;
	}
	return !in_x && !in_y;
}

void combine_bodies(struct loops *loops, struct loops_token *a, struct loops_token *b)
{
	uint64_t rounds = a->slot.count, more = b->slot.count;
	unsigned in_a = a->first, in_b = b->first;

	while (in_a) {
		unsigned next = arena_look(loops, in_b)->next;

		combine_tokens(loops, in_a, rounds, in_b, more);
		in_a = arena_look(loops, in_a)->next;
		in_b = next;
	}
	b->first = 0;
}

void combine_tokens(struct loops *loops, unsigned a, uint64_t uses, unsigned b, uint64_t more)
{
	struct loops_token *x = arena_token(loops, a), *y = arena_token(loops, b);

	combine_bodies(loops, x, y);
	counts_join(loops, x, uses, y, more);
	slot_merge(&x->slot, &y->slot);
	arena_give(loops, b);
	arena_refresh(loops, a);
}

uint64_t combine_calls(const struct loops *loops, unsigned place, unsigned count)
{
	uint64_t calls = 0;

	for (unsigned i = 0; i < count; i++)
		calls += arena_calls(loops, loops->cell[place + i]);
	return calls;
}

void combine_note_loss(struct loops *loops, unsigned place, uint64_t copy)
{
	uint64_t exact;

	if (!loops->losing)
		return;
	loops->losing = false;
	exact = combine_calls(loops, 0, place + 1) - copy;
	loops->exact = exact < loops->exact ? exact : loops->exact;
}

void combine_add_round(struct loops *loops, struct loops_token *loop, unsigned place,
		unsigned count)
{
	uint64_t burst = 0, inside = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct slot *slot = &arena_top(loops, place + i)->slot;

		burst += slot->sum[SLOT_BURST];
		inside += slot->sum[SLOT_INSIDE];
	}
	slot_add(&loop->slot, burst, inside);
	combine_set_count(loop, loop->count + 1);
}

void combine_round(struct loops *loops, unsigned at, unsigned place, unsigned count)
{
	struct loops_token *loop = arena_top(loops, at);
	uint64_t rounds = loop->slot.count, calls = combine_calls(loops, place, count);
	unsigned child = loop->first;

	combine_add_round(loops, loop, place, count);
	for (unsigned i = 0; i < count; i++) {
		combine_tokens(loops, child, rounds, loops->cell[place + i], 1);
		child = arena_look(loops, child)->next;
	}
	combine_note_loss(loops, at, calls);
}

void combine_end(struct loops *loops, unsigned place)
{
	unsigned cell = loops->cell[place];

	arena_pop(loops, place);
	arena_push(loops, cell);
}

bool combine_fits(const struct loops *loops, unsigned outer, unsigned inner)
{
	for (; outer; outer = arena_look(loops, outer)->next)
		if (inner && combine_is_alike(loops, outer, inner))
			inner = arena_look(loops, inner)->next;
		else if (arena_look(loops, outer)->kind != LOOPS_LOOP)
			return false;
	return !inner;
}

void combine_loop(struct loops *loops, struct loops_token *loop, unsigned cell)
{
	struct loops_token *from = arena_token(loops, cell), never = { 0 };
	uint64_t uses = loop->slot.count, more = from->slot.count;
	unsigned inner = from->first;

	for (unsigned child = loop->first; child; child = arena_look(loops, child)->next) {
		unsigned next = inner ? arena_look(loops, inner)->next : 0;

		if (inner && combine_is_alike(loops, child, inner)) {
			combine_tokens(loops, child, uses, inner, more);
			inner = next;
		} else {
			counts_join(loops, arena_token(loops, child), uses, &never, more);
			arena_refresh(loops, child);
		}
	}
	from->first = 0;
	slot_merge(&loop->slot, &from->slot);
	combine_set_count(loop, loop->count + from->count);
	arena_give(loops, cell);
}

bool combine_equal_bodies(const struct loops *loops, unsigned a, unsigned b)
{
	while (a && b && combine_is_equal(loops, a, b)) {
		a = arena_look(loops, a)->next;
		b = arena_look(loops, b)->next;
	}
	return !a && !b;
}
