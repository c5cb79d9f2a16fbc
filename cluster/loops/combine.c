/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/combine.h"

#include <string.h>

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

/* ---- loops that were entered in their middle ---- */

/* A loop of the top level whose body ends with the `before` tokens before it. */
struct rotation {
	unsigned place, before, length;
	bool varies;                 /* the counts in its body do */
	uint16_t child[LOOPS_CELLS]; /* cells of its body */
};

/* Returns whether the counts of a token or of its body vary. */
static bool varies(const struct loops *loops, unsigned cell)
{
	const struct loops_token *token = arena_look(loops, cell);

	if (token->least != token->most)
		return true;
	for (unsigned child = token->first; child; child = arena_look(loops, child)->next)
		if (varies(loops, child))
			return true;
	return false;
}

/* Returns whether tokens of the top level are those of a body. A loop that is always alike stays so. */
static bool is_rotated(const struct loops *loops, unsigned place, const struct rotation *rotation,
		unsigned child, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		unsigned a = loops->cell[place + i], b = rotation->child[child + i];

		if (rotation->varies ? !combine_is_alike(loops, a, b) :
				       !combine_is_equal(loops, a, b))
			return false;
	}
	return true;
}

/*
 * Returns how many cells adding two alike tokens takes at most; LOOPS_CELLS: counts may be lost. They have `uses` and
 * `more` uses.
 */
static unsigned cells_needed(const struct loops *loops, unsigned a, uint64_t uses, unsigned b,
		uint64_t more)
{
	const struct loops_token *x = arena_look(loops, a), *y = arena_look(loops, b);
	unsigned in_x = x->first, in_y = y->first, cells = 0;

	if (x->lossy || y->lossy)
		return LOOPS_CELLS;
	if (!counts_equal(loops, x, y)) {
		/* a sequence that is repeated would have to be written out */
		if (counts_period(loops, x, uses) != uses || counts_period(loops, y, more) != more)
			return LOOPS_CELLS;
		cells = 2;
		for (unsigned part = y->counts; part; part = loops->arena[part].chunk.next)
			cells += 2; /* runs are packed anew, and not as densely */
	}
	while (in_x && cells < LOOPS_CELLS) {
		cells += cells_needed(loops, in_x, x->slot.count, in_y, y->slot.count);
		in_x = arena_look(loops, in_x)->next;
		in_y = arena_look(loops, in_y)->next;
	}
	return cells;
}

static bool has_rotation_room(const struct loops *loops, const struct rotation *rotation)
{
	unsigned behind = rotation->length - rotation->before, cells = 0;
	uint64_t rounds = arena_look(loops, loops->cell[rotation->place])->slot.count;

	for (unsigned i = 0; i < rotation->before && cells < LOOPS_CELLS; i++)
		cells += cells_needed(loops, loops->cell[rotation->place - rotation->before + i], 1,
				rotation->child[behind + i], rounds);
	for (unsigned i = 0; i < behind && cells < LOOPS_CELLS; i++)
		cells += cells_needed(loops, rotation->child[i], rounds,
				loops->cell[rotation->place + 1 + i], 1);
	return cells <= loops->free_count && cells + loops->counts_cells <= LOOPS_COUNTS_MAX;
}

/* Finds how the loop at a place can be rotated. Returns false if it cannot. */
static bool find_rotation(const struct loops *loops, unsigned place, struct rotation *rotation)
{
	const struct loops_token *loop = arena_look(loops, loops->cell[place]);

	if (loop->kind != LOOPS_LOOP || loop->count == LOOPS_COUNT_MAX)
		return false;
	rotation->place = place;
	rotation->length = 0;
	rotation->varies = false;
	for (unsigned cell = loop->first; cell; cell = arena_look(loops, cell)->next) {
		rotation->child[rotation->length++] = (uint16_t)cell;
		rotation->varies = rotation->varies || varies(loops, cell);
	}
	for (unsigned before = 1; before < rotation->length && before <= place; before++) {
		unsigned behind = rotation->length - before;

		rotation->before = before;
		if (place + behind < loops->tokens &&
				is_rotated(loops, place - before, rotation, behind, before) &&
				is_rotated(loops, place + 1, rotation, 0, behind))
			return has_rotation_room(loops, rotation);
	}
	return false;
}

/* Adds the times of tokens of the top level to those of a round. */
static void add_round_times(const struct loops *loops, unsigned place, unsigned count,
		uint64_t ticks[SLOT_TIMES])
{
	for (unsigned i = 0; i < count; i++)
		for (unsigned time = 0; time < SLOT_TIMES; time++)
			ticks[time] += arena_look(loops, loops->cell[place + i])->slot.sum[time];
}

/* Rotates a loop. The top level is popped, and keeps its cells. tokens: how many it has. Returns how many remain. */
static unsigned rotate(struct loops *loops, const struct rotation *rotation, unsigned tokens)
{
	unsigned behind = rotation->length - rotation->before,
		 first = rotation->place - rotation->before, cell = loops->cell[rotation->place];
	struct loops_token *loop = arena_token(loops, cell);
	uint64_t rounds = loop->slot.count, ticks[SLOT_TIMES] = { 0 };
	uint16_t *link = &loop->first;

	add_round_times(loops, first, rotation->before, ticks);
	add_round_times(loops, rotation->place + 1, behind, ticks);
	for (unsigned i = 0; i < rotation->before; i++) {
		unsigned token = loops->cell[first + i];

		combine_tokens(loops, token, 1, rotation->child[behind + i], rounds);
		*link = (uint16_t)token;
		link = &arena_token(loops, token)->next;
	}
	for (unsigned i = 0; i < behind; i++) {
		unsigned token = rotation->child[i];

		combine_tokens(loops, token, rounds, loops->cell[rotation->place + 1 + i], 1);
		*link = (uint16_t)token;
		link = &arena_token(loops, token)->next;
	}
	*link = 0;
	slot_add(&loop->slot, ticks[SLOT_BURST], ticks[SLOT_INSIDE]);
	combine_set_count(loop, loop->count + 1);
	loops->cell[first] = (uint16_t)cell;
	memmove(&loops->cell[first + 1], &loops->cell[rotation->place + 1 + behind],
			(tokens - rotation->place - 1 - behind) * sizeof(loops->cell[0]));
	return tokens - rotation->length;
}

bool combine_rotated(struct loops *loops)
{
	bool changed = false;

	if (loops->exact != UINT64_MAX)
		return false;
	for (unsigned place = 0; place < loops->tokens; place++) {
		struct rotation rotation;
		unsigned tokens = loops->tokens;

		if (!find_rotation(loops, place, &rotation))
			continue;
		arena_pop(loops, 0);
		tokens = rotate(loops, &rotation, tokens);
		for (unsigned i = 0; i < tokens; i++)
			arena_push(loops, loops->cell[i]);
		place -= rotation.before;
		changed = true;
	}
	return changed;
}
