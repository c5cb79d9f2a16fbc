/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/reduce.h"

#include <string.h>

#include "cluster/loops/counts.h"

#define LOOPS_TRIED 4 /* loops before the last tokens that rule 4 tries */
#define ROUNDS_SURE 3 /* rounds from which a loop is continued by rounds with other counts */

bool reduce_equal(const struct loops *loops, unsigned a, unsigned b)
{
	const struct loops_token *x = arena_look(loops, a), *y = arena_look(loops, b);
	unsigned in_x = x->first, in_y = y->first;

	if (x->kind != y->kind || x->hash != y->hash || x->kind == LOOPS_HOLE ||
			x->symbol != y->symbol || !counts_equal(loops, x, y))
		return false;
	while (in_x && in_y && reduce_equal(loops, in_x, in_y)) {
		in_x = arena_look(loops, in_x)->next;
		in_y = arena_look(loops, in_y)->next;
	}
	return !in_x && !in_y;
}

bool reduce_alike(const struct loops *loops, unsigned a, unsigned b)
{
	const struct loops_token *x = arena_look(loops, a), *y = arena_look(loops, b);
	unsigned in_x = x->first, in_y = y->first;

	if (x->kind != y->kind || x->shape != y->shape || x->kind == LOOPS_HOLE ||
			x->symbol != y->symbol)
		return false;
	while (in_x && in_y && reduce_alike(loops, in_x, in_y)) {
		in_x = arena_look(loops, in_x)->next;
		in_y = arena_look(loops, in_y)->next;
	}
	return !in_x && !in_y;
}

static void merge_bodies(struct loops *loops, struct loops_token *a, struct loops_token *b)
{
	uint64_t rounds = a->slot.count, more = b->slot.count;
	unsigned in_a = a->first, in_b = b->first;

	while (in_a) {
		unsigned next = arena_look(loops, in_b)->next;

		reduce_merge(loops, in_a, rounds, in_b, more);
		in_a = arena_look(loops, in_a)->next;
		in_b = next;
	}
	b->first = 0;
}

void reduce_merge(struct loops *loops, unsigned a, uint64_t uses, unsigned b, uint64_t more)
{
	struct loops_token *x = arena_token(loops, a), *y = arena_token(loops, b);

	merge_bodies(loops, x, y);
	counts_join(loops, x, uses, y, more);
	slot_merge(&x->slot, &y->slot);
	arena_give(loops, b);
	arena_refresh(loops, a);
}

static uint64_t calls_of(const struct loops *loops, unsigned place, unsigned count)
{
	uint64_t calls = 0;

	for (unsigned i = 0; i < count; i++)
		calls += arena_calls(loops, loops->cell[place + i]);
	return calls;
}

/*
 * If counts were lost, then the text is exact only up to the last `copy` calls of the token at
 * `place`.
 */
static void note_loss(struct loops *loops, unsigned place, uint64_t copy)
{
	uint64_t exact;

	if (!loops->losing)
		return;
	loops->losing = false;
	exact = calls_of(loops, 0, place + 1) - copy;
	loops->exact = exact < loops->exact ? exact : loops->exact;
}

/* Adds a round to a loop: the times of `count` tokens of the top level. */
static void add_round(struct loops *loops, struct loops_token *loop, unsigned place, unsigned count)
{
	uint64_t burst = 0, inside = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct slot *slot = &arena_top(loops, place + i)->slot;

		burst += slot->sum[SLOT_BURST];
		inside += slot->sum[SLOT_INSIDE];
	}
	slot_add(&loop->slot, burst, inside);
	reduce_set_count(loop, loop->count + 1);
}

/* Makes the `count` tokens from `place` on a round of the loop at `at`, whose body is like them. */
static void absorb(struct loops *loops, unsigned at, unsigned place, unsigned count)
{
	struct loops_token *loop = arena_top(loops, at);
	uint64_t rounds = loop->slot.count, calls = calls_of(loops, place, count);
	unsigned child = loop->first;

	add_round(loops, loop, place, count);
	for (unsigned i = 0; i < count; i++) {
		reduce_merge(loops, child, rounds, loops->cell[place + i], 1);
		child = arena_look(loops, child)->next;
	}
	note_loss(loops, at, calls);
}

/* Ends the top level with the token at `place`. */
static void end_at(struct loops *loops, unsigned place)
{
	unsigned cell = loops->cell[place];

	arena_pop(loops, place);
	arena_push(loops, cell);
}

/* Rule 1. */
static bool join_loops(struct loops *loops)
{
	unsigned last = loops->tokens - 1u;
	struct loops_token *a, *b;
	bool sure, fits = true;
	uint64_t calls;

	if (!last || !loops->end_shape[last] || loops->shape[last] != loops->shape[last - 1])
		return false;
	a = arena_top(loops, last - 1);
	b = arena_top(loops, last);
	sure = a->count >= ROUNDS_SURE || b->count >= ROUNDS_SURE;
	if (a->length != b->length || b->count > LOOPS_COUNT_MAX - a->count)
		return false;
	for (unsigned x = a->first, y = b->first; x && y && fits;) {
		fits = sure ? reduce_alike(loops, x, y) : reduce_equal(loops, x, y);
		x = arena_look(loops, x)->next;
		y = arena_look(loops, y)->next;
	}
	if (!fits)
		return false;
	calls = calls_of(loops, last, 1);
	merge_bodies(loops, a, b);
	slot_merge(&a->slot, &b->slot);
	reduce_set_count(a, a->count + b->count);
	arena_give(loops, loops->cell[last]);
	note_loss(loops, last - 1, calls);
	end_at(loops, last - 1);
	return true;
}

static bool equals_body(const struct loops *loops, unsigned loop, unsigned place)
{
	unsigned child = arena_look(loops, loop)->first;

	for (; child; child = arena_look(loops, child)->next, place++)
		if (!reduce_equal(loops, child, loops->cell[place]))
			return false;
	return true;
}

/* Rule 2. */
static bool extend_equal(struct loops *loops)
{
	uint32_t end = loops->shape[loops->tokens - 1];
	unsigned link = loops->end_head[end % LOOPS_CHAINS];

	while ((link = arena_find(loops->end_shape, loops->end_before, link, end))) {
		unsigned at = link - 1, count = loops->tokens - link;
		const struct loops_token *loop = arena_top(loops, at);

		link = loops->end_before[at];
		if (loop->length != count || loop->count == LOOPS_COUNT_MAX ||
				!equals_body(loops, loops->cell[at], at + 1))
			continue;
		absorb(loops, at, at + 1, count);
		end_at(loops, at);
		return true;
	}
	return false;
}

/*
 * Makes a loop of `copies` copies of the last `count` tokens. Returns false if that is not
 * possible.
 */
static bool make_loop(struct loops *loops, unsigned count, unsigned copies)
{
	unsigned place = loops->tokens - count * copies, cell;
	struct loops_token *loop;

	for (unsigned i = 0; i < count; i++)
		if (arena_top(loops, place + i)->depth + 1 >= LOOPS_DEPTH_MAX)
			return false;
	cell = arena_take(loops);
	if (!cell)
		return false;
	loop = arena_token(loops, cell);
	loop->kind = LOOPS_LOOP;
	loop->first = loops->cell[place];
	add_round(loops, loop, place, count);
	for (unsigned i = 0; i + 1 < count; i++)
		arena_top(loops, place + i)->next = loops->cell[place + i + 1];
	loops->cell[place] = (uint16_t)cell;
	for (unsigned copy = 1; copy < copies; copy++)
		absorb(loops, place, place + copy * count, count);
	end_at(loops, place);
	return true;
}

/*
 * Returns whether the last `count` tokens stand `copies` times at the end. Compares hashes before
 * tokens.
 */
static bool copies_equal(const struct loops *loops, unsigned count, unsigned copies)
{
	const uint32_t *hash = loops->hash + loops->tokens;
	const uint16_t *cell = loops->cell + loops->tokens;
	unsigned all = count * copies;

	if (hash[-1] != hash[-1 - (int)count] || hash[-2] != hash[-2 - (int)count] ||
			memcmp(hash - all, hash - all + count, (all - count) * sizeof(*hash)))
		return false;
	for (unsigned i = count + 1; i <= all; i++)
		if (!reduce_equal(loops, cell[-(int)i], cell[(int)count - (int)i]))
			return false;
	return true;
}

/*
 * Returns the last place of the chain from `link` on that has the shape of the last token, plus 1,
 * or 0.
 */
static unsigned same_before(const struct loops *loops, unsigned link)
{
	return arena_find(loops->shape, loops->before, link, loops->shape[loops->tokens - 1]);
}

/* Rule 3. */
static bool create_equal(struct loops *loops)
{
	unsigned tokens = loops->tokens, link = loops->before[tokens - 1];

	for (; (link = same_before(loops, link)); link = loops->before[link - 1]) {
		unsigned count = tokens - link;
		unsigned copies = count < REDUCE_PAIR ? ROUNDS_SURE : 2;

		if (count > 1 && count * copies <= tokens && copies_equal(loops, count, copies) &&
				make_loop(loops, count, copies))
			return true;
	}
	return false;
}

/*
 * Returns how many rounds of a loop begin at `place`. There are no more of them than do not become
 * a loop.
 */
static unsigned count_rounds(const struct loops *loops, const struct loops_token *loop,
		unsigned place, unsigned end)
{
	unsigned rounds = 0;

	while (rounds < ROUNDS_SURE && place + loop->length <= end) {
		for (unsigned child = loop->first; child;
				child = arena_look(loops, child)->next, place++)
			if (!reduce_alike(loops, child, loops->cell[place]))
				return rounds;
		rounds++;
	}
	return rounds;
}

/* What rule 4 compares with the last tokens, and what follows these. */
struct followed {
	const struct loops_token *loop;
	uint64_t uses; /* of the tokens of the loop's body */
	unsigned end;  /* place behind the last token */
	uint32_t next; /* call path that follows; LOOPS_ANY: not known */
	bool apply;    /* the tokens are merged into the loop's body */
};

/*
 * Adds the tokens from `place` on, which are `count` rounds of a loop in a body that has `uses`
 * uses, as a use of it.
 */
static void absorb_rounds(struct loops *loops, struct loops_token *inner, uint64_t uses,
		unsigned place, unsigned count)
{
	for (unsigned round = 0; round < count; round++) {
		uint64_t rounds = inner->slot.count;
		struct loops_token once = { 0 };
		unsigned child = inner->first;

		add_round(loops, &once, place, inner->length);
		slot_merge(&inner->slot, &once.slot);
		for (; child; child = arena_look(loops, child)->next)
			reduce_merge(loops, child, rounds, loops->cell[place++], 1);
	}
	counts_add(loops, inner, uses, count);
}

/*
 * Returns the number of tokens from `place` on that are a use of `child` in the loop's body, or -1.
 */
static int follow_child(struct loops *loops, const struct followed *followed, unsigned child,
		unsigned place)
{
	struct loops_token *inner = arena_token(loops, child);
	uint64_t uses = followed->uses;
	uint32_t next = followed->next;
	unsigned rounds, length;
	bool ends;

	if (place < followed->end && reduce_alike(loops, child, loops->cell[place])) {
		if (followed->apply)
			reduce_merge(loops, child, uses, loops->cell[place], 1);
		return 1;
	}
	if (inner->kind != LOOPS_LOOP)
		return -1;
	rounds = count_rounds(loops, inner, place, followed->end);
	length = rounds * inner->length;
	ends = place + length == followed->end;
	/* at the end of the text, the next call tells whether this was all */
	if (ends && (next == LOOPS_ANY || next == arena_first_symbol(loops, child)))
		return -1;
	if (ends && !length && next != arena_first_symbol(loops, followed->loop->first))
		return -1;
	if (!followed->apply)
		return (int)length;
	absorb_rounds(loops, inner, uses, place, rounds);
	arena_refresh(loops, child);
	return (int)length;
}

/*
 * Returns whether all tokens from `place` to the end are the tokens of the loop's body from `child`
 * on.
 */
static bool follow(struct loops *loops, const struct followed *followed, unsigned child,
		unsigned place)
{
	while (child) {
		unsigned next = arena_look(loops, child)->next;
		int taken = follow_child(loops, followed, child, place);

		if (taken < 0)
			return false;
		place += (unsigned)taken;
		child = next;
	}
	return place == followed->end;
}

/*
 * Returns false if the tokens behind the loop at `at` cannot be a round: it has all calls, and ends
 * as the body ends.
 */
static bool may_follow(const struct loops *loops, unsigned at)
{
	const struct loops_token *loop = arena_look(loops, loops->cell[at]);
	unsigned last = loops->tokens - 1u;

	return loop->count >= ROUNDS_SURE && loop->count < LOOPS_COUNT_MAX &&
			last - at >= loop->symbol &&
			(loops->shape[last] == loops->end_shape[at] ||
					arena_look(loops, loop->last)->kind == LOOPS_LOOP);
}

/* Rule 4. */
static bool extend_alike(struct loops *loops, uint32_t next)
{
	unsigned tokens = loops->tokens, tried = 0;

	for (unsigned link = loops->loop_before[tokens - 1]; link && tried < LOOPS_TRIED; tried++) {
		unsigned at = link - 1;
		struct loops_token *loop = arena_top(loops, at);
		struct followed followed = { loop, loop->slot.count, tokens, next, false };
		uint64_t calls;

		link = loops->loop_before[at];
		if (!may_follow(loops, at) || !follow(loops, &followed, loop->first, at + 1))
			continue;
		calls = calls_of(loops, at + 1, tokens - at - 1);
		add_round(loops, loop, at + 1, tokens - at - 1);
		followed.apply = true;
		follow(loops, &followed, loop->first, at + 1);
		note_loss(loops, at, calls);
		end_at(loops, at);
		return true;
	}
	return false;
}

bool reduce_follows(const struct loops *loops, unsigned place, unsigned child, unsigned begin,
		unsigned end)
{
	const struct loops_token *loop = arena_look(loops, loops->cell[place]);
	const struct followed followed = { .loop = loop,
		.end = end,
		.next = arena_first_symbol(loops, loops->cell[place]) };

	/* it writes only if it applies what it finds */
	return follow((struct loops *)loops, &followed, child, begin);
}

/*
 * Makes a copy of a token and its body that has no use yet. Returns its cell, or 0 if there are too
 * few cells.
 */
static unsigned copy_unused(struct loops *loops, unsigned cell)
{
	const struct loops_token *from = arena_look(loops, cell);
	unsigned copy = arena_take(loops);
	uint16_t *link = &arena_token(loops, copy)->first;

	if (!copy)
		return 0;
	arena_token(loops, copy)->kind = from->kind;
	arena_token(loops, copy)->symbol = from->symbol;
	for (unsigned child = from->first; child; child = arena_look(loops, child)->next) {
		unsigned in_copy = copy_unused(loops, child);

		if (!in_copy) {
			arena_give_all(loops, copy);
			return 0;
		}
		*link = (uint16_t)in_copy;
		link = &arena_token(loops, in_copy)->next;
	}
	arena_refresh(loops, copy);
	return copy;
}

/*
 * Finds rounds that directly precede the loop at `place`, as rule 4 knows them. Writes the place of
 * each, the last one first. Returns their number, at most `most`.
 */
static unsigned find_rounds_before(const struct loops *loops, unsigned place, uint16_t *begin,
		unsigned most)
{
	unsigned first = arena_look(loops, loops->cell[place])->first;
	unsigned found = 0, end = place;

	for (unsigned length = 1; length <= end && length <= REDUCE_ROUND_MAX && found < most;
			length++)
		if (reduce_follows(loops, place, first, end - length, end)) {
			end -= length;
			begin[found++] = (uint16_t)end;
			length = 0;
		}
	return found;
}

/* Adds the rounds that precede the last token, a loop of alike rounds that was found late. */
static void prepend_rounds(struct loops *loops)
{
	unsigned place = loops->tokens - 1u, rounds, cell;
	struct loops_token *loop, *last = arena_top(loops, place);
	uint16_t begin[LOOPS_CELLS];

	rounds = find_rounds_before(loops, place, begin, LOOPS_CELLS - 1);
	cell = rounds && last->count < LOOPS_COUNT_MAX - rounds ?
			copy_unused(loops, loops->cell[place]) :
			0;
	if (!cell)
		return;
	loop = arena_token(loops, cell);
	for (unsigned i = rounds; i-- > 0;) {
		struct followed followed = { loop, loop->slot.count, i ? begin[i - 1] : place,
			arena_first_symbol(loops, loops->cell[place]), true };

		add_round(loops, loop, begin[i], followed.end - begin[i]);
		follow(loops, &followed, loop->first, begin[i]);
	}
	merge_bodies(loops, loop, last);
	slot_merge(&loop->slot, &last->slot);
	reduce_set_count(loop, loop->count + last->count);
	arena_give(loops, loops->cell[place]);
	loops->cell[begin[rounds - 1]] = (uint16_t)cell;
	if (loops->losing) {
		uint64_t exact = calls_of(loops, 0, begin[rounds - 1]);

		loops->losing = false;
		loops->exact = exact < loops->exact ? exact : loops->exact;
	}
	end_at(loops, begin[rounds - 1]);
}

/* Returns how many copies of `count` tokens become a loop although their counts differ. */
static unsigned copies_needed(const struct loops *loops, unsigned count)
{
	unsigned copies = (REDUCE_PATIENCE + count - 1) / count;

	if (loops->finishing || (copies < ROUNDS_SURE && count < REDUCE_PATIENCE / 2))
		return ROUNDS_SURE;
	return copies > 2 ? copies : 2;
}

static bool copies_alike(const struct loops *loops, unsigned count, unsigned copies)
{
	const uint16_t *end = loops->cell + loops->tokens;

	for (unsigned i = count + 1; i <= count * copies; i++)
		if (!reduce_alike(loops, end[-(int)i], end[(int)count - (int)i]))
			return false;
	return true;
}

/* Rule 5. */
static bool create_alike(struct loops *loops)
{
	unsigned tokens = loops->tokens, link = loops->before[tokens - 1];
	const uint32_t *end = loops->shape + tokens;

	for (; (link = same_before(loops, link)); link = loops->before[link - 1]) {
		unsigned count = tokens - link, copies = copies_needed(loops, count);
		unsigned all = count * copies;

		if (count < 2 || all > tokens || end[-2] != loops->shape[link - 2] ||
				memcmp(end - all, end - all + count, (all - count) * sizeof(*end)))
			continue;
		if (copies_alike(loops, count, copies) && make_loop(loops, count, copies)) {
			prepend_rounds(loops);
			return true;
		}
	}
	return false;
}

bool reduce_last(struct loops *loops, uint32_t next)
{
	if (!loops->tokens)
		return false;
	arena_refresh_last(loops);
	if (join_loops(loops) || extend_equal(loops) || create_equal(loops) ||
			extend_alike(loops, next))
		return true;
	return (loops->finishing || loops->tokens >= REDUCE_PATIENCE) && create_alike(loops);
}
