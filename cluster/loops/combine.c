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
		const struct loops_slot *slot = &arena_top(loops, place + i)->slot;

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

bool combine_equal_bodies(const struct loops *loops, unsigned a, unsigned b)
{
	while (a && b && combine_is_equal(loops, a, b)) {
		a = arena_look(loops, a)->next;
		b = arena_look(loops, b)->next;
	}
	return !a && !b;
}

/* The tokens of a body, and the tokens of another body that they are uses of, round by round. */
struct assigned {
	unsigned count;
	struct {
		uint16_t cell, outer;
		uint16_t round;
	} token[LOOPS_CELLS];
};

/*
 * Assigns the tokens from `inner` on to those from `outer` on. Returns the number of rounds, or 0.
 */
static unsigned assign(const struct loops *loops, unsigned outer, unsigned inner,
		struct assigned *assigned)
{
	unsigned child = outer, rounds = 0, before = 0;

	assigned->count = 0;
	while (inner || (child && child != outer)) {
		if (inner && combine_is_alike(loops, child, inner)) {
			unsigned i = assigned->count++;

			assigned->token[i].cell = (uint16_t)inner;
			assigned->token[i].outer = (uint16_t)child;
			assigned->token[i].round = (uint16_t)rounds;
			inner = arena_look(loops, inner)->next;
		} else if (arena_look(loops, child)->kind != LOOPS_LOOP) {
			return 0;
		}
		child = arena_look(loops, child)->next;
		if (child)
			continue;
		if (assigned->count == before)
			return 0;
		before = assigned->count;
		rounds++;
		child = outer;
	}
	return rounds;
}

/*
 * Returns whether the order of the counts of several rounds is known: all uses of a token have one
 * count, and its bodies in all rounds are equal.
 */
static bool is_ordered(const struct loops *loops, const struct assigned *assigned)
{
	for (unsigned i = 0; i < assigned->count; i++) {
		const struct loops_token *token = arena_look(loops, assigned->token[i].cell);

		if (token->counts || token->lossy)
			return false;
		for (unsigned j = 0; j < i; j++)
			if (assigned->token[j].outer == assigned->token[i].outer &&
					!combine_equal_bodies(loops, token->first,
							arena_look(loops, assigned->token[j].cell)
									->first))
				return false;
	}
	return true;
}

unsigned combine_fits(const struct loops *loops, unsigned outer, unsigned inner)
{
	struct assigned assigned;
	unsigned rounds = assign(loops, outer, inner, &assigned);

	return rounds < 2 || is_ordered(loops, &assigned) ? rounds : 0;
}

/* Adds the uses of one token in all rounds of a loop that is executed `times` times. */
static void add_uses(struct loops *loops, unsigned child, uint64_t uses,
		const struct assigned *assigned, unsigned rounds, uint64_t times)
{
	struct loops_token *token = arena_token(loops, child), sequence = { 0 };
	unsigned i = 0;

	for (unsigned round = 0; round < rounds; round++) {
		struct loops_token *from;
		uint32_t count = 0;

		while (i < assigned->count &&
				(assigned->token[i].round < round ||
						assigned->token[i].outer != child))
			i++;
		if (i < assigned->count && assigned->token[i].round == round) {
			from = arena_token(loops, assigned->token[i].cell);
			count = from->count;
			combine_bodies(loops, token, from);
			slot_merge(&token->slot, &from->slot);
			arena_give(loops, assigned->token[i].cell);
		}
		if (round)
			counts_add(loops, &sequence, round, count);
		else
			combine_set_count(&sequence, count);
	}
	counts_join(loops, token, uses, &sequence, times * rounds);
	arena_give_counts(loops, &sequence);
	arena_refresh(loops, child);
}

/*
 * Makes a slot of rounds that hold `rounds` shorter ones each one of these, as if they were equally
 * long.
 */
static void divide_rounds(struct loops_slot *slot, unsigned rounds)
{
	slot->count *= rounds;
	for (unsigned time = 0; time < SLOT_TIMES; time++) {
		slot->squares[time] /= rounds;
		slot->least[time] /= (float)rounds;
		slot->most[time] /= (float)rounds;
		for (unsigned bin = 0; bin < SLOT_BINS; bin++)
			if (__builtin_mul_overflow(slot->bin[time][bin], rounds,
					    &slot->bin[time][bin]))
				slot->bin[time][bin] = UINT32_MAX;
	}
}

void combine_loop(struct loops *loops, struct loops_token *loop, unsigned cell)
{
	struct loops_token *from = arena_token(loops, cell), never = { 0 };
	uint64_t uses = loop->slot.count, more = from->slot.count;
	struct assigned assigned;
	unsigned rounds = assign(loops, loop->first, from->first, &assigned), i = 0;

	for (unsigned child = loop->first; child; child = arena_look(loops, child)->next) {
		if (rounds > 1) {
			add_uses(loops, child, uses, &assigned, rounds, more);
		} else if (i < assigned.count && assigned.token[i].outer == child) {
			combine_tokens(loops, child, uses, assigned.token[i++].cell, more);
		} else {
			counts_join(loops, arena_token(loops, child), uses, &never, more);
			arena_refresh(loops, child);
		}
	}
	from->first = 0;
	divide_rounds(&from->slot, rounds);
	slot_merge(&loop->slot, &from->slot);
	combine_set_count(loop, loop->count + from->count * rounds);
	arena_give(loops, cell);
}
