/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/reduce.h"

#include <string.h>

#include "cluster/loops/combine.h"
#include "cluster/loops/counts.h"

#define LOOPS_TRIED  4 /* loops before the last tokens that rule 5 tries */
#define ROUNDS_TRIED 8 /* rounds of different lengths that rule 7 tries */
#define ROUNDS_YOUNG                                                                               \
	8 /* rounds up to which a loop that has other counts looks for rounds before it */
#define ROUNDS_SURE 3 /* rounds from which a loop is continued by rounds with other counts */

/* Rule 1. */
static bool join_loops(struct loops *loops)
{
	unsigned last = loops->tokens - 1u;
	struct loops_token *a, *b;
	uint64_t calls;

	if (!last || !loops->end_shape[last] || !loops->end_shape[last - 1])
		return false;
	a = arena_top(loops, last - 1);
	b = arena_top(loops, last);
	if (b->count > (LOOPS_COUNT_MAX - a->count) / LOOPS_CELLS ||
			!(a->count >= ROUNDS_SURE || b->count >= ROUNDS_SURE ?
							combine_fits(loops, a->first, b->first) :
							combine_equal_bodies(loops, a->first,
									b->first)))
		return false;
	calls = combine_calls(loops, last, 1);
	combine_loop(loops, a, loops->cell[last]);
	combine_note_loss(loops, last - 1, calls);
	combine_end(loops, last - 1);
	return true;
}

static bool equals_body(const struct loops *loops, unsigned loop, unsigned place)
{
	unsigned child = arena_look(loops, loop)->first;

	for (; child; child = arena_look(loops, child)->next, place++)
		if (!combine_is_equal(loops, child, loops->cell[place]))
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
		combine_round(loops, at, at + 1, count);
		combine_end(loops, at);
		return true;
	}
	return false;
}

/*
 * Returns whether the tokens behind the loop at `at` are rounds of the loop `inner`, or calls like
 * it: one call, one round, or a loop.
 */
static bool repeats(const struct loops *loops, unsigned at, unsigned inner)
{
	const struct loops_token *token = arena_look(loops, inner);
	const uint16_t *cell = loops->cell + at + 1;
	unsigned count = loops->tokens - at - 1u, child = token->first;

	if (count == 1 && combine_is_alike(loops, inner, cell[0]))
		return true;
	if (token->kind != LOOPS_LOOP || count != token->length)
		return false;
	for (; child; child = arena_look(loops, child)->next)
		if (!combine_is_alike(loops, child, *cell++))
			return false;
	return true;
}

/* Rule 3. */
static bool continue_round(struct loops *loops, uint32_t next)
{
	unsigned link = loops->loop_before[loops->tokens - 1], at = link - 1, last, count, child;
	struct loops_token *loop, *inner, round = { 0 };
	uint64_t rounds;

	if (!link)
		return false;
	loop = arena_top(loops, at);
	last = loop->last;
	inner = arena_token(loops, last);
	count = loops->tokens - link;
	if (loop->count < ROUNDS_SURE || next != arena_first_symbol(loops, loop->first) ||
			!repeats(loops, at, last))
		return false;
	if (!counts_extend(loops, inner, loop->slot.count,
			    combine_is_alike(loops, last, loops->cell[link]) ?
					    arena_top(loops, link)->count :
					    1))
		return false;
	combine_add_round(loops, &round, link, count);
	loop->slot.sum[SLOT_BURST] += round.slot.sum[SLOT_BURST];
	loop->slot.sum[SLOT_INSIDE] += round.slot.sum[SLOT_INSIDE];
	rounds = inner->slot.count;
	child = inner->first;
	if (combine_is_alike(loops, last, loops->cell[link])) {
		combine_bodies(loops, inner, arena_top(loops, link));
		slot_merge(&inner->slot, &arena_top(loops, link)->slot);
		arena_give(loops, loops->cell[link]);
	} else {
		slot_merge(&inner->slot, &round.slot);
		for (; child; child = arena_look(loops, child)->next)
			combine_tokens(loops, child, rounds, loops->cell[link++], 1);
	}
	arena_refresh(loops, last);
	combine_end(loops, at);
	return true;
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
	combine_add_round(loops, loop, place, count);
	for (unsigned i = 0; i + 1 < count; i++)
		arena_top(loops, place + i)->next = loops->cell[place + i + 1];
	loops->cell[place] = (uint16_t)cell;
	for (unsigned copy = 1; copy < copies; copy++)
		combine_round(loops, place, place + copy * count, count);
	combine_end(loops, place);
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
			memcmp(hash - all, hash - all + count, (all - count) * sizeof(*hash)) != 0)
		return false;
	for (unsigned i = count + 1; i <= all; i++)
		if (!combine_is_equal(loops, cell[-(int)i], cell[(int)count - (int)i]))
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

/* Rule 4. */
static bool create_equal(struct loops *loops)
{
	unsigned tokens = loops->tokens, link = loops->before[tokens - 1];

	/* two copies must find room before the end of the text */
	for (; (link = same_before(loops, link)) >= (tokens + 1) / 2;
			link = loops->before[link - 1]) {
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
			if (!combine_is_alike(loops, child, loops->cell[place]))
				return rounds;
		rounds++;
	}
	return rounds;
}

/* What rule 5 compares with the last tokens, and what follows these. */
struct followed {
	uint64_t uses;  /* of the tokens of the loop's body */
	uint32_t first; /* call path with which the body begins */
	uint32_t next;  /* call path that follows; LOOPS_ANY: not known */
	unsigned end;   /* place behind the last token */
	bool apply;     /* the tokens are merged into the loop's body */
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

		combine_add_round(loops, &once, place, inner->length);
		slot_merge(&inner->slot, &once.slot);
		for (; child; child = arena_look(loops, child)->next)
			combine_tokens(loops, child, rounds, loops->cell[place++], 1);
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

	if (place < followed->end && combine_is_alike(loops, child, loops->cell[place])) {
		if (followed->apply)
			combine_tokens(loops, child, uses, loops->cell[place], 1);
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
	if (ends && !length && next != followed->first)
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

bool reduce_follows(const struct loops *loops, unsigned first, unsigned child, unsigned begin,
		unsigned end)
{
	uint32_t symbol = arena_first_symbol(loops, first);
	const struct followed followed = { .first = symbol, .next = symbol, .end = end };

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
 * Returns whether a token of the top level is a loop of such rounds as those that begin with
 * `first`.
 */
static bool is_loop_of(const struct loops *loops, unsigned place, unsigned first)
{
	const struct loops_token *token = arena_look(loops, loops->cell[place]);

	return token->kind == LOOPS_LOOP && combine_fits(loops, first, token->first);
}

/* A body whose rounds are looked for in the text. */
struct wanted {
	unsigned first; /* first token of the body */
	unsigned most;  /* tokens that a round may have */
	/* shapes that a round begins and ends with, if these are calls; else 0 */
	uint32_t begins, ends;
};

static struct wanted want(const struct loops *loops, unsigned first)
{
	const struct loops_token *token = arena_look(loops, first);
	struct wanted wanted = { .first = first };

	wanted.begins = token->kind == LOOPS_CALL ? token->shape : 0;
	for (unsigned cell = first; cell; cell = token->next) {
		token = arena_look(loops, cell);
		wanted.most += token->kind == LOOPS_LOOP ? (ROUNDS_SURE - 1) * token->length : 1;
		wanted.ends = token->kind == LOOPS_CALL ? token->shape : 0;
	}
	wanted.most = wanted.most < REDUCE_ROUND_MAX ? wanted.most : REDUCE_ROUND_MAX;
	return wanted;
}

/* Returns the length of the longest round that ends before the place `end`, in tokens, or 0. */
static unsigned round_before(const struct loops *loops, const struct wanted *wanted, unsigned end)
{
	unsigned length = wanted->most < end ? wanted->most : end;

	if (!end)
		return 0;
	if (!wanted->ends || wanted->ends == loops->shape[end - 1])
		for (; length; length--)
			if ((!wanted->begins || wanted->begins == loops->shape[end - length]) &&
					reduce_follows(loops, wanted->first, wanted->first,
							end - length, end))
				return length;
	return is_loop_of(loops, end - 1, wanted->first);
}

/*
 * Finds rounds that end at `place`, as rule 5 knows them, and loops of them. first: first token of
 * their body. Of rounds with one end, the longest counts, because the shorter ones lack a loop that
 * is there. Writes the place of each, the last one first. Returns their number.
 */
static unsigned find_rounds_before(const struct loops *loops, unsigned place, unsigned first,
		uint16_t begin[LOOPS_CELLS])
{
	const struct wanted wanted = want(loops, first);
	unsigned found = 0, end = place;

	for (unsigned length; (length = round_before(loops, &wanted, end));) {
		end -= length;
		begin[found++] = (uint16_t)end;
	}
	return found;
}

/* Adds the rounds that precede the last token, a loop of alike rounds that was found late. */
static void prepend_rounds(struct loops *loops)
{
	unsigned place = loops->tokens - 1u, rounds, cell;
	struct loops_token *loop, *last = arena_top(loops, place);
	uint64_t most = last->count; /* rounds that the loop may have then */
	uint16_t begin[LOOPS_CELLS];

	rounds = find_rounds_before(loops, place, last->first, begin);
	for (unsigned i = 0; i < rounds; i++)
		most += (uint64_t)arena_top(loops, begin[i])->count * LOOPS_CELLS;
	cell = rounds && most <= LOOPS_COUNT_MAX ? copy_unused(loops, loops->cell[place]) : 0;
	if (!cell)
		return;
	loop = arena_token(loops, cell);
	for (unsigned i = rounds; i-- > 0;) {
		uint32_t symbol = arena_first_symbol(loops, last->first);
		struct followed followed = { loop->slot.count, symbol, symbol,
			i ? begin[i - 1] : place, true };

		if (followed.end == begin[i] + 1u && is_loop_of(loops, begin[i], last->first)) {
			combine_loop(loops, loop, loops->cell[begin[i]]);
			continue;
		}
		combine_add_round(loops, loop, begin[i], followed.end - begin[i]);
		follow(loops, &followed, loop->first, begin[i]);
	}
	combine_bodies(loops, loop, last);
	slot_merge(&loop->slot, &last->slot);
	combine_set_count(loop, loop->count + last->count);
	arena_give(loops, loops->cell[place]);
	loops->cell[begin[rounds - 1]] = (uint16_t)cell;
	if (loops->losing) {
		uint64_t exact = combine_calls(loops, 0, begin[rounds - 1]);

		loops->losing = false;
		loops->exact = exact < loops->exact ? exact : loops->exact;
	}
	combine_end(loops, begin[rounds - 1]);
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

/* Rule 5. */
static bool extend_alike(struct loops *loops, uint32_t next)
{
	unsigned tokens = loops->tokens, tried = 0;

	for (unsigned link = loops->loop_before[tokens - 1]; link && tried < LOOPS_TRIED; tried++) {
		unsigned at = link - 1;
		struct loops_token *loop = arena_top(loops, at);
		struct followed followed = { .uses = loop->slot.count,
			.first = arena_first_symbol(loops, loop->first),
			.next = next,
			.end = tokens };
		uint64_t calls;

		link = loops->loop_before[at];
		if (!may_follow(loops, at) || !follow(loops, &followed, loop->first, at + 1))
			continue;
		calls = combine_calls(loops, at + 1, tokens - at - 1);
		combine_add_round(loops, loop, at + 1, tokens - at - 1);
		followed.apply = true;
		follow(loops, &followed, loop->first, at + 1);
		combine_note_loss(loops, at, calls);
		combine_end(loops, at);
		if (loop->count <= ROUNDS_YOUNG)
			prepend_rounds(loops);
		return true;
	}
	return false;
}

/* Returns how many copies of `count` tokens become a loop although their counts differ. */
static unsigned copies_needed(unsigned count)
{
	unsigned copies = (REDUCE_PATIENCE + count - 1) / count;

	if (copies < ROUNDS_SURE && count < REDUCE_PATIENCE / 2)
		return ROUNDS_SURE;
	return copies > 2 ? copies : 2;
}

static bool copies_alike(const struct loops *loops, unsigned count, unsigned copies)
{
	const uint16_t *end = loops->cell + loops->tokens;

	for (unsigned i = count + 1; i <= count * copies; i++)
		if (!combine_is_alike(loops, end[-(int)i], end[(int)count - (int)i]))
			return false;
	return true;
}

/* Rule 6. */
static bool create_alike(struct loops *loops)
{
	unsigned tokens = loops->tokens, link = loops->before[tokens - 1];
	const uint32_t *end = loops->shape + tokens;

	for (; (link = same_before(loops, link)) >= (tokens + 1) / 2;
			link = loops->before[link - 1]) {
		unsigned count = tokens - link, copies = copies_needed(count);
		unsigned all = count * copies;

		if (count < 2 || all > tokens || end[-2] != loops->shape[link - 2] ||
				memcmp(end - all, end - all + count,
						(all - count) * sizeof(*end)) != 0)
			continue;
		if (copies_alike(loops, count, copies) && make_loop(loops, count, copies)) {
			prepend_rounds(loops);
			return true;
		}
	}
	return false;
}

/* Makes the tokens of the top level from `place` on a list, or separate tokens again. */
static void link_tokens(struct loops *loops, unsigned place, bool list)
{
	for (; place + 1 < loops->tokens; place++)
		arena_top(loops, place)->next = list ? loops->cell[place + 1] : 0;
}

/*
 * Returns how many tokens are rounds whose last one is the last `count` tokens, or 0 if fewer than
 * three rounds have all loops of the body.
 */
static unsigned covered_by(struct loops *loops, unsigned count)
{
	unsigned place = loops->tokens - count, end = place, rounds, whole = 1;
	uint16_t begin[LOOPS_CELLS];

	link_tokens(loops, place, true);
	rounds = find_rounds_before(loops, place, loops->cell[place], begin);
	for (unsigned i = 0; i < rounds; end = begin[i++])
		whole += end - begin[i] >= count || is_loop_of(loops, begin[i], loops->cell[place]);
	link_tokens(loops, place, false);
	return whole < ROUNDS_SURE ? 0 : loops->tokens - begin[rounds - 1];
}

static unsigned cells_of(const struct loops *loops, unsigned cell)
{
	unsigned cells = 1;

	for (unsigned child = arena_look(loops, cell)->first; child;
			child = arena_look(loops, child)->next)
		cells += cells_of(loops, child);
	return cells;
}

/* Rule 7. */
static bool create_followed(struct loops *loops)
{
	unsigned link = loops->before[loops->tokens - 1], tried = 0, best = 0, cells = 2;
	unsigned most = 0, enough = loops->closing ? 1 : REDUCE_COVERED;

	for (; (link = same_before(loops, link)) && tried < ROUNDS_TRIED; tried++) {
		unsigned count = loops->tokens - link, covered;

		link = loops->before[link - 1];
		covered = count > 1 && count <= REDUCE_ROUND_MAX ? covered_by(loops, count) : 0;
		/* several rounds together may cover a little more, but are no round */
		if (covered > most + most / 2) {
			most = covered;
			best = count;
		}
	}
	for (unsigned i = 1; i <= best; i++)
		cells += cells_of(loops, loops->cell[loops->tokens - i]);
	if (most < enough || cells > loops->free_count || !make_loop(loops, best, 1))
		return false;
	prepend_rounds(loops);
	return true;
}

bool reduce_last(struct loops *loops, uint32_t next)
{
	if (!loops->tokens)
		return false;
	arena_refresh_last(loops);
	if (join_loops(loops) || extend_equal(loops) || continue_round(loops, next) ||
			create_equal(loops) || extend_alike(loops, next))
		return true;
	if (loops->tokens >= REDUCE_PATIENCE && create_alike(loops))
		return true;
	return loops->finishing && create_followed(loops);
}
