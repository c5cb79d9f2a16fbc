/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/compare.h"

#include <errno.h>

#include "cluster/loops/counts.h"

static uint64_t hash_counts(const struct loops *loops, const struct loops_token *token)
{
	struct counts_reader reader = { 0 };
	uint64_t hash = token->lossy;

	if (!token->counts)
		return arena_mix(hash, token->count);
	for (uint64_t left = counts_period(loops, token, 0); left;) {
		uint64_t run = counts_next_run(loops, token, &reader, left);

		hash = arena_mix(arena_mix(hash, reader.count), run);
		left -= run;
	}
	return hash;
}

static uint64_t hash_token(const struct loops *loops, unsigned cell,
		const struct loops_names *names, bool counts)
{
	const struct loops_token *token = arena_look(loops, cell);
	uint64_t hash = arena_mix(0, token->kind);

	if (token->kind == LOOPS_CALL)
		hash = arena_mix(hash, loops_signature(names, token->symbol));
	for (unsigned child = token->first; child; child = arena_look(loops, child)->next)
		hash = arena_mix(hash, hash_token(loops, child, names, counts));
	return counts ? arena_mix(hash, hash_counts(loops, token)) : hash;
}

static uint64_t hash_text(const struct loops *loops, const struct loops_names *names, bool counts)
{
	uint64_t hash = 0;

	for (unsigned place = 0; place < loops->tokens; place++)
		hash = arena_mix(hash, hash_token(loops, loops->cell[place], names, counts));
	return hash;
}

uint64_t compare_hash(const struct loops *loops, const struct loops_names *names)
{
	return hash_text(loops, names, true);
}

uint64_t compare_shape(const struct loops *loops, const struct loops_names *names)
{
	return hash_text(loops, names, false);
}

/* Returns whether the sequence from `a` on is below the one from `b` on, both around its end. */
static bool is_below(const uint64_t *hash, unsigned length, unsigned a, unsigned b)
{
	for (unsigned i = 0; i < length; i++) {
		uint64_t x = hash[(a + i) % length], y = hash[(b + i) % length];

		if (x != y)
			return x < y;
	}
	return false;
}

uint64_t compare_hash_body(const struct loops *loops, unsigned cell,
		const struct loops_names *names, bool counts)
{
	uint64_t hash[LOOPS_CELLS], all = 0;
	unsigned length = 0, least = 0;

	for (unsigned child = arena_look(loops, cell)->first; child;
			child = arena_look(loops, child)->next)
		hash[length++] = hash_token(loops, child, names, counts);
	for (unsigned i = 1; i < length; i++)
		if (is_below(hash, length, i, least))
			least = i;
	for (unsigned i = 0; i < length; i++)
		all = arena_mix(all, hash[(least + i) % length]);
	return all;
}

/* Two texts, or two tokens of them. */
struct texts {
	struct loops *into;
	const struct loops *from;
	const struct loops_names *into_names, *from_names;
};

static bool same_token(const struct texts *texts, unsigned a, unsigned b)
{
	const struct loops_token *x = arena_look(texts->into, a), *y = arena_look(texts->from, b);
	unsigned in_x = x->first, in_y = y->first;

	if (x->kind != y->kind || x->lossy != y->lossy ||
			hash_counts(texts->into, x) != hash_counts(texts->from, y))
		return false;
	if (x->kind == LOOPS_CALL)
		return loops_signature(texts->into_names, x->symbol) ==
				loops_signature(texts->from_names, y->symbol);
	while (in_x && in_y && same_token(texts, in_x, in_y)) {
		in_x = arena_look(texts->into, in_x)->next;
		in_y = arena_look(texts->from, in_y)->next;
	}
	return !in_x && !in_y;
}

static void add_token(const struct texts *texts, unsigned a, unsigned b)
{
	struct loops_token *x = arena_token(texts->into, a);
	const struct loops_token *y = arena_look(texts->from, b);
	unsigned in_x = x->first, in_y = y->first;

	slot_merge(&x->slot, &y->slot);
	while (in_x) {
		add_token(texts, in_x, in_y);
		in_x = arena_look(texts->into, in_x)->next;
		in_y = arena_look(texts->from, in_y)->next;
	}
}

int compare_merge(struct loops *into, const struct loops_names *into_names,
		const struct loops *from, const struct loops_names *from_names)
{
	const struct texts texts = { into, from, into_names, from_names };

	if (into->tokens != from->tokens)
		return -EINVAL;
	for (unsigned place = 0; place < into->tokens; place++)
		if (!same_token(&texts, into->cell[place], from->cell[place]))
			return -EINVAL;
	for (unsigned place = 0; place < into->tokens; place++)
		add_token(&texts, into->cell[place], from->cell[place]);
	return 0;
}
