/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text is built again token by token, and what the fold calculates from the tokens is calculated again. So it
 * does not matter what the file says about that.
 */
#include "agent/spool/loops_image.h"

#include <math.h>
#include <string.h>

#include "cluster/loops/counts.h"
#include "cluster/loops/loops.h"

#define COUNT_MAX    0x1p43       /* calls of a rank */
#define TICKS_MAX    (1ull << 55) /* of all calls of a token */
#define NUMBER_BYTES 9            /* of a number in the counts: at most 63 bits */

struct reading {
	const struct loops *from;
	struct loops *to;
	uint32_t symbols;
	bool seen[LOOPS_CELLS]; /* cells of `from` that were read */
};

/* Returns whether this is a cell that was not read yet, and notes that it is read. */
static bool take(struct reading *reading, unsigned cell)
{
	if (!cell || cell >= LOOPS_CELLS || reading->seen[cell])
		return false;
	reading->seen[cell] = true;
	return true;
}

/* ---- counts ---- */

/* What the runs of a token's counts add up to. */
struct counted {
	uint64_t uses, repetitions;
	uint32_t first; /* count of the first run */
	bool varies;
};

/* Adds a run. Returns false if there cannot be one. */
static bool add_run(struct counted *counted, struct counts_run run)
{
	uint64_t repetitions;

	if (!run.uses || run.uses > (uint64_t)COUNT_MAX)
		return false;
	if (!counted->uses)
		counted->first = run.count;
	counted->varies |= run.count != counted->first;
	return !__builtin_mul_overflow(run.uses, run.count, &repetitions) &&
			!__builtin_add_overflow(counted->repetitions, repetitions,
					&counted->repetitions) &&
			!__builtin_add_overflow(counted->uses, run.uses, &counted->uses);
}

/* Returns the bytes of a number, of which at most `left` are there, or 0. */
static unsigned number_bytes(const uint8_t *bytes, unsigned left)
{
	unsigned length = 1;

	while (length <= left && length <= NUMBER_BYTES && bytes[length - 1] & 0x80)
		length++;
	return length <= left && length <= NUMBER_BYTES ? length : 0;
}

static bool read_runs(const struct loops_chunk *chunk, struct counted *counted)
{
	unsigned at = 0;

	while (at < chunk->used) {
		unsigned left = chunk->used - at, first = number_bytes(chunk->bytes + at, left);
		struct counts_run run;

		if (!first ||
				(chunk->bytes[at] & 1 &&
						!number_bytes(chunk->bytes + at + first,
								left - first)))
			return false;
		at += counts_read_run(chunk->bytes + at, &run);
		if (!add_run(counted, run))
			return false;
	}
	return true;
}

static bool read_chunk(struct reading *reading, unsigned cell, struct loops_token *token,
		struct counted *counted)
{
	const struct loops_chunk *from = &reading->from->arena[cell].chunk;
	struct loops *to = reading->to;
	unsigned copy;

	if (from->kind != LOOPS_COUNTS || from->used > LOOPS_CHUNK_BYTES ||
			to->counts_cells == LOOPS_COUNTS_MAX || !read_runs(from, counted))
		return false;
	copy = arena_take(to);
	to->counts_cells++;
	to->arena[copy].chunk.kind = LOOPS_COUNTS;
	to->arena[copy].chunk.used = from->used;
	memcpy(to->arena[copy].chunk.bytes, from->bytes, from->used);
	if (token->counts)
		to->arena[to->arena[token->counts].chunk.last].chunk.next = (uint16_t)copy;
	else
		token->counts = (uint16_t)copy;
	to->arena[token->counts].chunk.last = (uint16_t)copy;
	to->arena[token->counts].chunk.uses = counted->uses;
	return true;
}

/*
 * Reads the counts of a token that has `uses` uses. Returns false if they are invalid, or if the token's calls or
 * rounds are not as many as they say.
 */
static bool read_counts(struct reading *reading, const struct loops_token *from,
		struct loops_token *token, uint64_t uses)
{
	struct counted counted = { 0 };
	uint64_t all;

	for (unsigned cell = from->counts; cell; cell = reading->from->arena[cell].chunk.next)
		if (!take(reading, cell) || !read_chunk(reading, cell, token, &counted))
			return false;
	if (!add_run(&counted,
			    (struct counts_run){ token->count, token->counts ? from->run : uses }))
		return false;
	/* a sequence that never changes would be repeated without taking room */
	if (!counted.varies)
		arena_give_counts(reading->to, token);
	token->run = token->counts || token->kind == LOOPS_HOLE ? from->run : 0;
	if (token->lossy || token->kind == LOOPS_HOLE)
		return true;
	return uses % counted.uses == 0 &&
			!__builtin_mul_overflow(uses / counted.uses, counted.repetitions, &all) &&
			all == token->slot.count;
}

/* ---- tokens ---- */

static bool is_slot(const struct loops_slot *slot)
{
	bool good = slot->count > 0 && slot->count <= (uint64_t)COUNT_MAX;

	for (unsigned time = 0; time < SLOT_TIMES; time++)
		good = good && slot->sum[time] <= TICKS_MAX && slot->squares[time] >= 0 &&
				isfinite(slot->squares[time]) && slot->least[time] >= 0 &&
				isfinite(slot->least[time]) && slot->most[time] >= 0 &&
				isfinite(slot->most[time]);
	return good;
}

static unsigned read_token(struct reading *reading, unsigned cell, unsigned depth, uint64_t uses);

/* Reads the body of a loop. Its times are those of the body. */
static bool read_body(struct reading *reading, unsigned first, unsigned depth,
		struct loops_token *loop)
{
	uint16_t *link = &loop->first;

	memset(loop->slot.sum, 0, sizeof(loop->slot.sum));
	for (unsigned cell = first; cell; cell = arena_look(reading->from, cell)->next) {
		unsigned copy = read_token(reading, cell, depth + 1, loop->slot.count);

		if (!copy)
			return false;
		*link = (uint16_t)copy;
		link = &arena_token(reading->to, copy)->next;
		for (unsigned time = 0; time < SLOT_TIMES; time++)
			loop->slot.sum[time] += arena_look(reading->to, copy)->slot.sum[time];
	}
	return loop->first;
}

static bool read_kind(struct reading *reading, const struct loops_token *from, unsigned depth,
		struct loops_token *token)
{
	switch (from->kind) {
	case LOOPS_CALL:
		token->symbol = from->symbol < reading->symbols ? from->symbol : 0;
		return true;
	case LOOPS_LOOP:
		return read_body(reading, from->first, depth, token);
	case LOOPS_HOLE:
		/* holes are in no loop, and no other token equals one */
		token->hash = (uint32_t)arena_mix(LOOPS_HOLE, ++reading->to->holes);
		token->shape = token->hash | 1;
		reading->to->unknown += token->slot.count;
		return !depth && from->count == 1;
	default:
		return false;
	}
}

/* Reads a token that has `uses` uses, in so many loops. Returns its cell, or 0 if it is invalid. */
static unsigned read_token(struct reading *reading, unsigned cell, unsigned depth, uint64_t uses)
{
	const struct loops_token *from = arena_look(reading->from, cell < LOOPS_CELLS ? cell : 0);
	struct loops_token *token;
	unsigned copy;

	if (!take(reading, cell) || depth >= LOOPS_DEPTH_MAX || !is_slot(&from->slot) ||
			from->least > from->most || (!depth && from->counts))
		return 0;
	copy = arena_take(reading->to);
	token = arena_token(reading->to, copy);
	token->kind = from->kind;
	/* the file may hold another value than those of a bool */
	token->lossy = *(const uint8_t *)&from->lossy != 0;
	token->count = from->count;
	token->least = from->least;
	token->most = from->most;
	token->slot = from->slot;
	if (!read_kind(reading, from, depth, token) || !read_counts(reading, from, token, uses))
		return 0;
	arena_refresh(reading->to, copy);
	return copy;
}

bool loops_image_read(struct loops *to, const struct loops *from, uint32_t symbols)
{
	struct reading reading = { from, to, symbols, { false } };

	loops_init(to);
	if (from->tokens >= LOOPS_CELLS || from->at > LOOPS_ROUND_MAX)
		return false;
	for (unsigned place = 0; place < from->tokens; place++) {
		unsigned cell = read_token(&reading, from->cell[place], 0, 1);

		if (!cell)
			return false;
		arena_push(to, cell);
		to->calls += arena_calls(to, cell);
	}
	if (to->calls + from->at != from->calls || from->calls > (uint64_t)COUNT_MAX)
		return false;
	to->exact = from->exact;
	to->last_unknown = from->last_unknown < to->calls ? from->last_unknown : to->calls;
	for (unsigned i = 0; i < from->at; i++) {
		const struct loops_pending *call = &from->pending[i];

		if (call->burst > TICKS_MAX || call->inside > TICKS_MAX)
			return false;
		loops_add(to, call->symbol < symbols ? call->symbol : 0, call->burst, call->inside);
	}
	loops_finish(to);
	return true;
}
