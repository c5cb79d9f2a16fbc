/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/structures/fit.h"

#include <string.h>

#include "agent/structures/variants.h"

#define STEPS_MAX 20000 /* of one search */

void fit_same(struct fit *fit, uint32_t tokens)
{
	fit->tokens = tokens;
	for (uint32_t i = 0; i < tokens; i++)
		fit->place[i] = (struct fit_place){ .copies = 1, .token = { i } };
}

/* ---- the search ---- */

struct search {
	const struct fit_structure *loops, *flat;
	struct fit *fit;
	unsigned steps; /* that are left */
};

/* A stretch of tokens. */
struct stretch {
	uint32_t begin, end;
};

static const struct structure_token *token_of(const struct fit_structure *one, uint32_t token)
{
	return &one->table->token[one->structure->first + token];
}

/* Returns the body of a token, which is empty if it is no loop. */
static struct stretch body_of(const struct fit_structure *one, uint32_t token)
{
	struct stretch body = { token + 1, token + 1 };

	while (body.end < one->structure->tokens &&
			token_of(one, body.end)->depth > token_of(one, token)->depth)
		body.end++;
	return body;
}

/* Notes where a token is. Returns false if it is there too often. */
static bool note(struct search *search, uint32_t token, uint32_t where, uint32_t rounds,
		uint32_t inside)
{
	struct fit_place *place = &search->fit->place[token];

	if (place->copies == FIT_COPIES_MAX)
		return false;
	place->token[place->copies] = where;
	place->rounds[place->copies] = rounds;
	place->inside[place->copies++] = inside;
	search->fit->note[search->fit->notes++] = token;
	return true;
}

/* Forgets all but the first `notes` notes. */
static void forget(struct search *search, uint32_t notes)
{
	struct fit *fit = search->fit;

	while (fit->notes > notes)
		fit->place[fit->note[--fit->notes]].copies--;
}

/* Returns whether two tokens are the same, whatever is in their bodies. */
static bool is_same(const struct search *search, uint32_t a, uint32_t b)
{
	const struct structure_token *x = token_of(search->loops, a),
				     *y = token_of(search->flat, b);

	if (x->kind != y->kind || x->kind != LOOPS_CALL)
		return x->kind == y->kind;
	if (x->path == STRUCTURES_NONE || y->path == STRUCTURES_NONE)
		return false;
	if (search->loops->table == search->flat->table)
		return x->path == y->path;
	return routes_compare_ends(&search->loops->table->path[x->path],
			       &search->flat->table->path[y->path]) == 0;
}

static uint32_t fit_match(struct search *search, struct stretch loops, struct stretch flat,
		uint32_t inside);

/* Matches the body of a loop that is not there. Returns the end of its one or two rounds, or STRUCTURES_NONE. */
static uint32_t match_rounds(struct search *search, uint32_t loop, struct stretch flat,
		uint32_t inside)
{
	struct stretch body = body_of(search->loops, loop);
	uint32_t one, two, notes;

	one = fit_match(search, body, flat, inside);
	if (one == STRUCTURES_NONE)
		return STRUCTURES_NONE;
	notes = search->fit->notes;
	two = fit_match(search, body, (struct stretch){ one, flat.end }, inside);
	if (two == STRUCTURES_NONE)
		forget(search, notes);
	if (!note(search, loop, STRUCTURES_NONE, two == STRUCTURES_NONE ? 1 : 2, inside))
		return STRUCTURES_NONE;
	return two == STRUCTURES_NONE ? one : two;
}

/* Returns whether a loop is there as a loop. */
static bool match_loop(struct search *search, uint32_t loop, uint32_t other)
{
	struct stretch inner = body_of(search->flat, other);

	return fit_match(search, body_of(search->loops, loop), inner, other) == inner.end &&
			note(search, loop, other, 0, 0);
}

/*
 * Matches tokens with those from the start of `flat` on, which are in the loop `inside`. Returns the end of the latter,
 * or STRUCTURES_NONE.
 */
static uint32_t fit_match(struct search *search, struct stretch loops, struct stretch flat,
		uint32_t inside)
{
	uint32_t a = loops.begin, b = flat.begin;

	while (a < loops.end) {
		struct stretch body = body_of(search->loops, a);
		uint32_t notes = search->fit->notes;
		bool same = b < flat.end && is_same(search, a, b);
		bool is_loop = token_of(search->loops, a)->kind == LOOPS_LOOP;

		if (!search->steps)
			return STRUCTURES_NONE;
		search->steps--;
		if (same && (is_loop ? match_loop(search, a, b) : note(search, a, b, 0, 0))) {
			b = body_of(search->flat, b).end;
		} else if (is_loop) {
			forget(search, notes);
			b = match_rounds(search, a, (struct stretch){ b, flat.end }, inside);
			if (b == STRUCTURES_NONE)
				return STRUCTURES_NONE;
		} else {
			return STRUCTURES_NONE;
		}
		a = body.end;
	}
	return b;
}

bool fit_find(struct fit *fit, const struct fit_structure *loops, const struct fit_structure *flat)
{
	struct search search = { loops, flat, fit, STEPS_MAX };
	struct stretch all = { 0, loops->structure->tokens },
		       there = { 0, flat->structure->tokens };

	fit->tokens = loops->structure->tokens;
	fit->notes = 0;
	for (uint32_t i = 0; i < fit->tokens; i++)
		fit->place[i].copies = 0;
	return fit->tokens && there.end &&
			fit_match(&search, all, there, STRUCTURES_NONE) == there.end;
}

/* ---- times ---- */

/* Adds what one copy of a token has. A loop's times are those of its body. */
static void add_copy(const struct fit_place *place, uint32_t copy, const struct fit_structure *flat,
		struct structure_token *token)
{
	const struct structure_token *there;
	uint32_t least = place->rounds[copy], most = least, where = place->token[copy];

	if (where == STRUCTURES_NONE) {
		uint32_t inside = place->inside[copy];

		token->count += least *
				(inside == STRUCTURES_NONE ? flat->structure->ranks :
							     token_of(flat, inside)->count);
	} else {
		there = token_of(flat, where);
		least = there->least;
		most = there->most;
		token->count += there->count;
		if (token->prototype == PROTOTYPES_MAX)
			token->prototype = there->prototype;
		for (unsigned time = 0; time < SLOT_TIMES; time++) {
			double low = there->rank_least[time], high = there->rank_most[time];

			token->seconds[time] += there->seconds[time];
			if (!copy || low < token->rank_least[time])
				token->rank_least[time] = low;
			if (!copy || high > token->rank_most[time])
				token->rank_most[time] = high;
		}
	}
	if (!copy || least < token->least)
		token->least = least;
	if (!copy || most > token->most)
		token->most = most;
}

/* Makes the times of a loop those of its body, of which `tokens` are the first ones. */
static void add_body(struct structure_token *loop, const struct structure_token *tokens,
		uint32_t count)
{
	for (unsigned time = 0; time < SLOT_TIMES; time++) {
		double low = 0, high = 0;

		loop->seconds[time] = 0;
		for (uint32_t i = 0; i < count && tokens[i].depth > loop->depth; i++)
			if (tokens[i].depth == loop->depth + 1) {
				loop->seconds[time] += tokens[i].seconds[time];
				low += tokens[i].rank_least[time] * tokens[i].count;
				high += tokens[i].rank_most[time] * tokens[i].count;
			}
		loop->rank_least[time] = low / loop->count;
		loop->rank_most[time] = high / loop->count;
	}
}

void fit_tokens(const struct fit *fit, const struct fit_structure *loops,
		const struct fit_structure *flat, struct structure_token *tokens)
{
	for (uint32_t i = fit->tokens; i--;) {
		const struct fit_place *place = &fit->place[i];
		const struct structure_token *like = token_of(loops, i);
		struct structure_token *token = &tokens[i];
		bool missing = false;

		*token = (struct structure_token){ .kind = like->kind,
			.depth = like->depth,
			.path = like->path,
			.prototype = PROTOTYPES_MAX };
		for (uint32_t copy = 0; copy < place->copies; copy++) {
			add_copy(place, copy, flat, token);
			missing = missing || place->token[copy] == STRUCTURES_NONE;
		}
		if (missing)
			add_body(token, token + 1, fit->tokens - i - 1);
		for (unsigned time = 0; time < SLOT_TIMES && flat->structure->ranks == 1; time++)
			token->rank_least[time] = token->rank_most[time] =
					token->count > 0 ? token->seconds[time] / token->count : 0;
	}
}

/* ---- counts ---- */

/* The counts of one copy of a token. */
struct copy_counts {
	uint8_t made[VARIANTS_TOKEN_BYTES]; /* of a loop that is not there */
	const uint8_t *bytes;
	uint32_t length;
	bool top; /* its place is in no loop, so that it is used once */
};

static void read_copy(const struct fit_place *place, uint32_t copy,
		const struct fit_structure *flat, const uint8_t *const *at,
		struct copy_counts *counts)
{
	uint32_t where = place->token[copy];

	if (where == STRUCTURES_NONE) {
		counts->length = variants_write_same((struct counts_run){ place->rounds[copy], 1 },
				counts->made);
		counts->bytes = counts->made;
		counts->top = place->inside[copy] == STRUCTURES_NONE;
	} else {
		counts->bytes = at[where];
		counts->length = (uint32_t)(at[where + 1] - at[where]);
		counts->top = token_of(flat, where)->depth == 0;
	}
}

/* Writes the counts of a token that stands twice. Returns the number of bytes, or 0 if they cannot be expressed. */
static uint32_t write_two(const struct copy_counts *copy, uint8_t *bytes)
{
	struct variants_counts counts[2];
	struct counts_run run[2];
	uint32_t length;

	for (unsigned i = 0; i < 2; i++) {
		variants_read(copy[i].bytes, &counts[i]);
		variants_next_run(&counts[i], &run[i]);
		/* the uses of both take turns, which runs of each one do not say */
		if (counts[i].varies)
			return 0;
	}
	if (run[0].count == run[1].count && run[0].uses == run[1].uses) {
		memcpy(bytes, copy[0].bytes, copy[0].length);
		return copy[0].length;
	}
	if (!copy[0].top || !copy[1].top)
		return 0;
	length = counts_write_run(bytes, (struct counts_run){ 2, 1 });
	length += counts_write_run(bytes + length, run[0]);
	return length + counts_write_run(bytes + length, run[1]);
}

uint32_t fit_counts(const struct fit *fit, const struct fit_structure *flat, const uint8_t *counts,
		uint8_t *bytes, uint32_t size)
{
	const uint8_t *at[LOOPS_CELLS + 1];
	uint32_t written = 0;

	at[0] = counts;
	for (uint32_t i = 0; i < flat->structure->tokens; i++)
		at[i + 1] = at[i] + variants_length(at[i]);
	for (uint32_t i = 0; i < fit->tokens; i++) {
		struct copy_counts copy[FIT_COPIES_MAX];
		uint32_t length;

		for (uint32_t k = 0; k < fit->place[i].copies; k++)
			read_copy(&fit->place[i], k, flat, at, &copy[k]);
		if (written + copy[0].length + 2 * VARIANTS_TOKEN_BYTES > size)
			return 0;
		if (fit->place[i].copies == 1) {
			length = copy[0].length;
			memcpy(bytes + written, copy[0].bytes, length);
		} else {
			length = write_two(copy, bytes + written);
		}
		if (!length)
			return 0;
		written += length;
	}
	return written;
}
