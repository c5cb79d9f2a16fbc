/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/loops/counts.h"

#include <stddef.h>

uint64_t counts_period(const struct loops *loops, const struct loops_token *token, uint64_t uses)
{
	return token->counts ? loops->arena[token->counts].chunk.uses + token->run : uses;
}

unsigned counts_write_number(uint8_t *bytes, uint64_t number)
{
	unsigned length = 0;

	for (; number >= 0x80; number >>= 7)
		bytes[length++] = (uint8_t)(number | 0x80);
	bytes[length++] = (uint8_t)number;
	return length;
}

unsigned counts_read_number(const uint8_t *bytes, uint64_t *number)
{
	unsigned length = 0;

	*number = 0;
	do
		*number |= (uint64_t)(bytes[length] & 0x7f) << 7 * length;
	while (bytes[length++] & 0x80);
	return length;
}

unsigned counts_write_run(uint8_t *bytes, struct counts_run run)
{
	unsigned length = counts_write_number(bytes, (uint64_t)run.count << 1 | (run.uses > 1));

	if (run.uses > 1)
		length += counts_write_number(bytes + length, run.uses);
	return length;
}

unsigned counts_read_run(const uint8_t *bytes, struct counts_run *run)
{
	uint64_t number;
	unsigned length = counts_read_number(bytes, &number);

	run->count = (uint32_t)(number >> 1);
	run->uses = 1;
	if (number & 1)
		length += counts_read_number(bytes + length, &run->uses);
	return length;
}

/* Returns the part that has room for one more run, or NULL if there is none. */
static struct loops_chunk *part_with_room(struct loops *loops, struct loops_token *token)
{
	struct loops_chunk *first = &loops->arena[token->counts].chunk;
	unsigned cell, last = token->counts ? first->last : 0;

	if (last && loops->arena[last].chunk.used + COUNTS_RUN_BYTES <= LOOPS_CHUNK_BYTES)
		return &loops->arena[last].chunk;
	cell = loops->counts_cells < LOOPS_COUNTS_MAX ? arena_take(loops) : 0;
	if (!cell)
		return NULL;
	loops->counts_cells++;
	loops->arena[cell].chunk.kind = LOOPS_COUNTS;
	if (last) {
		loops->arena[last].chunk.next = (uint16_t)cell;
	} else {
		token->counts = (uint16_t)cell;
		first = &loops->arena[cell].chunk;
	}
	first->last = (uint16_t)cell;
	return &loops->arena[cell].chunk;
}

/* Adds `uses` uses with this count. Returns false if there is no room. */
static bool append_run(struct loops *loops, struct loops_token *token, uint32_t count,
		uint64_t uses)
{
	struct loops_chunk *part;

	if (count == token->count) {
		token->run += uses;
		return true;
	}
	part = part_with_room(loops, token);
	if (!part)
		return false;
	part->used += counts_write_run(part->bytes + part->used,
			(struct counts_run){ token->count, token->run });
	loops->arena[token->counts].chunk.uses += token->run;
	token->count = count;
	token->run = uses;
	return true;
}

/* Moves the reader to the next run. The open run ends the sequence. */
static void read_run(const struct loops *loops, const struct loops_token *token,
		struct counts_reader *reader)
{
	struct counts_run run;

	if (!reader->begun) {
		reader->begun = true;
		reader->part = token->counts;
		reader->at = 0;
	}
	if (reader->part && reader->at >= loops->arena[reader->part].chunk.used) {
		reader->part = loops->arena[reader->part].chunk.next;
		reader->at = 0;
	}
	if (!reader->part) {
		reader->begun = false;
		reader->count = token->count;
		reader->left = token->run;
		return;
	}
	reader->at += counts_read_run(&loops->arena[reader->part].chunk.bytes[reader->at], &run);
	reader->count = run.count;
	reader->left = run.uses;
}

uint64_t counts_next_run(const struct loops *loops, const struct loops_token *token,
		struct counts_reader *reader, uint64_t most)
{
	uint64_t uses;

	if (!token->counts) {
		reader->count = token->count;
		return most;
	}
	if (!reader->left)
		read_run(loops, token, reader);
	uses = reader->left < most ? reader->left : most;
	reader->left -= uses;
	return uses;
}

bool counts_equal(const struct loops *loops, const struct loops_token *a,
		const struct loops_token *b)
{
	struct counts_reader of_a = { 0 }, of_b = { 0 };
	uint64_t left;

	if (a->lossy || b->lossy || a->count != b->count || !a->counts != !b->counts)
		return false;
	if (!a->counts)
		return true;
	left = counts_period(loops, a, 0);
	if (left != counts_period(loops, b, 0) || a->least != b->least || a->most != b->most)
		return false;
	while (left) {
		uint64_t run = counts_next_run(loops, a, &of_a, left);

		if (counts_next_run(loops, b, &of_b, run) != run || of_a.count != of_b.count)
			return false;
		left -= run;
	}
	return true;
}

static void lose(struct loops *loops, struct loops_token *token)
{
	token->lossy = true;
	loops->losing = true;
}

/* Returns whether `times` more copies of a sequence certainly find room. */
static bool has_room(const struct loops *loops, const struct loops_token *token, uint64_t times)
{
	uint64_t bytes = COUNTS_RUN_BYTES, parts = LOOPS_COUNTS_MAX - loops->counts_cells;

	parts = parts < loops->free_count ? parts : loops->free_count;
	for (unsigned part = token->counts; part; part = loops->arena[part].chunk.next)
		bytes += loops->arena[part].chunk.used;
	return times <= parts * (LOOPS_CHUNK_BYTES - COUNTS_RUN_BYTES) / bytes;
}

/*
 * Makes the counts of all uses a sequence that is not repeated. Returns false if there may be no
 * room. Then the sequence is unchanged.
 */
static bool unroll(struct loops *loops, struct loops_token *token, uint64_t uses)
{
	uint64_t period = counts_period(loops, token, uses);

	if (!token->counts)
		token->run = uses;
	if (period < uses && !has_room(loops, token, uses / period))
		return false;
	for (uint64_t done = period; done < uses; done += period) {
		struct counts_reader reader = { 0 };

		for (uint64_t left = period; left;) {
			uint64_t run = counts_next_run(loops, token, &reader, left);

			left -= run;
			if (!append_run(loops, token, reader.count, run))
				return false;
		}
	}
	return true;
}

static void widen(struct loops_token *a, const struct loops_token *b)
{
	a->least = b->least < a->least ? b->least : a->least;
	a->most = b->most > a->most ? b->most : a->most;
}

/* Gives the counts of `b` to a token that has no use yet. */
static void take_over(struct loops_token *a, struct loops_token *b)
{
	a->count = b->count;
	a->least = b->least;
	a->most = b->most;
	a->run = b->run;
	a->lossy = b->lossy;
	a->counts = b->counts;
	b->counts = 0;
}

void counts_join(struct loops *loops, struct loops_token *a, uint64_t uses, struct loops_token *b,
		uint64_t more)
{
	struct counts_reader reader = { 0 };

	if (!uses) {
		take_over(a, b);
		return;
	}
	/*
	 * the uses of a token are whole repetitions of its sequence, so two equal sequences stay
	 * one
	 */
	if (!more || counts_equal(loops, a, b))
		return;
	widen(a, b);
	/* once counts are lost, more of them would not make the text exact for longer */
	if (a->lossy || b->lossy || loops->exact != UINT64_MAX || !unroll(loops, a, uses)) {
		lose(loops, a);
		return;
	}
	for (uint64_t left = more; left;) {
		uint64_t run = counts_next_run(loops, b, &reader, left);

		left -= run;
		if (!append_run(loops, a, reader.count, run)) {
			lose(loops, a);
			return;
		}
	}
}

void counts_add(struct loops *loops, struct loops_token *token, uint64_t uses, uint32_t count)
{
	struct loops_token once = { .count = count, .least = count, .most = count };

	counts_join(loops, token, uses, &once, 1);
}

bool counts_extend(struct loops *loops, struct loops_token *token, uint64_t uses, uint32_t more)
{
	uint64_t run = token->counts ? token->run : uses;

	if (token->lossy || loops->exact != UINT64_MAX || more > LOOPS_COUNT_MAX - token->count ||
			counts_period(loops, token, uses) != uses)
		return false;
	if (run > 1) {
		if (!part_with_room(loops, token))
			return false;
		token->run = run - 1;
		append_run(loops, token, token->count + more, 1);
	} else {
		token->count += more;
	}
	token->most = token->count > token->most ? token->count : token->most;
	return true;
}
