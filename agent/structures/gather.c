/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/structures/gather.h"

#include <string.h>

#include "cluster/prototypes.h"

void gather_token(const struct structure_token *from, struct structure_token *into)
{
	into->least = from->least < into->least ? from->least : into->least;
	into->most = from->most > into->most ? from->most : into->most;
	into->count += from->count;
	if (into->prototype == PROTOTYPES_MAX)
		into->prototype = from->prototype;
	for (unsigned time = 0; time < SLOT_TIMES; time++) {
		into->seconds[time] += from->seconds[time];
		if (from->rank_least[time] < into->rank_least[time])
			into->rank_least[time] = from->rank_least[time];
		if (from->rank_most[time] > into->rank_most[time])
			into->rank_most[time] = from->rank_most[time];
	}
}

/* ---- texts ---- */

static bool has_call(const struct gather_source *source, uint32_t path)
{
	for (uint32_t i = 0; i < source->tokens; i++)
		if (source->token[i].kind == LOOPS_CALL && source->token[i].path == path)
			return true;
	return false;
}

bool gather_is_alike(const struct gather *gather)
{
	for (unsigned s = 0; s < 2; s++) {
		const struct gather_source *source = &gather->source[s];

		for (uint32_t i = 0; i < source->tokens; i++)
			if (source->token[i].kind == LOOPS_CALL &&
					(source->token[i].path == STRUCTURES_NONE ||
							!has_call(&gather->source[!s],
									source->token[i].path)))
				return false;
	}
	return true;
}

static void find_parts(struct gather_source *source)
{
	uint32_t depth = source->gathered;

	source->parts = 0;
	for (uint32_t i = source->gathered; i < source->tokens; source->parts++) {
		source->part[source->parts].begin = i++;
		while (i < source->tokens && source->token[i].depth > depth)
			i++;
		source->part[source->parts].end = i;
	}
}

/* Returns whether the part at a token of the common text is this one. */
static bool is_part(const struct gather *gather, uint32_t at, const struct structure_token *part,
		uint32_t tokens)
{
	for (uint32_t i = 0; i < tokens; i++) {
		const struct structure_token *known = &gather->token[at + i];

		if (at + i >= gather->tokens || known->kind != part[i].kind ||
				known->depth - 1 != part[i].depth - part[0].depth ||
				(known->kind == LOOPS_CALL && known->path != part[i].path))
			return false;
	}
	return at + tokens == gather->tokens || gather->token[at + tokens].depth == 1;
}

/* Returns the place of a part in the common text, which is added if it is missing; STRUCTURES_NONE: no room. */
static uint32_t place_part(struct gather *gather, const struct structure_token *part,
		uint32_t tokens)
{
	uint32_t at = gather->tokens;

	for (uint32_t i = 1; i < gather->tokens; i++)
		if (gather->token[i].depth == 1 && is_part(gather, i, part, tokens))
			return i;
	if (tokens > GATHER_TOKENS_MAX - at)
		return STRUCTURES_NONE;
	for (uint32_t i = 0; i < tokens; i++)
		gather->token[at + i] = (struct structure_token){ .kind = part[i].kind,
			.depth = part[i].depth - part[0].depth + 1,
			.path = part[i].path,
			.prototype = PROTOTYPES_MAX };
	gather->tokens += tokens;
	return at;
}

/* Adds the times of a source. A part may be at several places of it. */
static void add_times(struct gather *gather, const struct gather_source *source)
{
	for (uint32_t at = 1; at < gather->tokens; at++) {
		struct structure_token *token = &gather->token[at], sum = { .count = 0 };

		for (uint32_t p = 0; p < source->parts; p++) {
			uint32_t to = source->part[p].to, from = source->part[p].begin + at - to;

			if (at < to || from >= source->part[p].end)
				continue;
			if (sum.count > 0)
				gather_token(&source->token[from], &sum);
			else
				sum = source->token[from];
		}
		if (!(sum.count > 0))
			continue;
		for (unsigned time = 0; time < SLOT_TIMES && source->ranks == 1; time++)
			sum.rank_least[time] = sum.rank_most[time] = sum.seconds[time] / sum.count;
		sum.kind = token->kind;
		sum.depth = token->depth;
		sum.path = token->path;
		if (token->count > 0)
			gather_token(&sum, token);
		else
			*token = sum;
	}
}

bool gather_texts(struct gather *gather)
{
	gather->tokens = 1;
	gather->token[0] = (struct structure_token){ .kind = LOOPS_LOOP,
		.path = STRUCTURES_NONE,
		.prototype = PROTOTYPES_MAX,
		.least = UINT32_MAX };
	for (unsigned s = 0; s < 2; s++) {
		struct gather_source *source = &gather->source[s];

		find_parts(source);
		for (uint32_t p = 0; p < source->parts; p++) {
			uint32_t begin = source->part[p].begin;

			source->part[p].to = place_part(gather, &source->token[begin],
					source->part[p].end - begin);
			if (source->part[p].to == STRUCTURES_NONE)
				return false;
		}
	}
	add_times(gather, &gather->source[0]);
	add_times(gather, &gather->source[1]);
	/* of parts it is known how often each round has them only when counts are gathered */
	for (uint32_t at = 1; at < gather->tokens; at++)
		if (gather->token[at].depth == 1) {
			gather->token[at].least = UINT32_MAX;
			gather->token[at].most = 0;
		}
	return true;
}

uint32_t gather_place(const struct gather *gather, unsigned source, uint32_t token)
{
	const struct gather_source *from = &gather->source[source];

	for (uint32_t p = 0; p < from->parts && token != STRUCTURES_NONE; p++)
		if (token >= from->part[p].begin && token < from->part[p].end)
			return from->part[p].to + token - from->part[p].begin;
	return STRUCTURES_NONE;
}

void gather_finish(struct gather *gather)
{
	struct structure_token *loop = &gather->token[0];

	for (uint32_t at = 1; at < gather->tokens; at++)
		for (unsigned time = 0; time < SLOT_TIMES && gather->token[at].depth == 1; time++)
			loop->seconds[time] += gather->token[at].seconds[time];
	if (loop->count < 1) /* no counts are known */
		loop->count = loop->least = loop->most = 1;
	for (unsigned time = 0; time < SLOT_TIMES; time++)
		loop->rank_least[time] = loop->rank_most[time] = loop->seconds[time] / loop->count;
}

/* ---- counts ---- */

/* Adds `uses` uses to the counts of a token. Returns false if there is no room. */
static bool add_uses(struct gather *gather, uint32_t token, uint64_t count, uint64_t uses)
{
	struct gather_list *list = &gather->list[token];
	uint32_t value = count < LOOPS_COUNT_MAX ? (uint32_t)count : LOOPS_COUNT_MAX;

	if (!uses)
		return true;
	list->uses += uses;
	if (list->last && gather->run[list->last - 1].run.count == value) {
		gather->run[list->last - 1].run.uses += uses;
		return true;
	}
	if (gather->runs == GATHER_RUNS_MAX)
		return false;
	gather->run[gather->runs].run = (struct counts_run){ value, uses };
	gather->run[gather->runs++].next = 0;
	if (list->last)
		gather->run[list->last - 1].next = gather->runs;
	else
		list->first = gather->runs;
	list->last = gather->runs;
	return true;
}

/* Adds `uses` uses of the counts that are written, and their sum to *sum. Returns false if there is no room. */
static bool add_written(struct gather *gather, uint32_t token, const uint8_t *bytes, uint64_t uses,
		uint64_t *sum)
{
	struct variants_counts counts;
	struct counts_run run;

	variants_read(bytes, &counts);
	if (!counts.varies) {
		variants_next_run(&counts, &run);
		*sum += (uint64_t)run.count * uses;
		return add_uses(gather, token, run.count, uses);
	}
	while (uses) {
		if (!variants_next_run(&counts, &run)) {
			variants_read(bytes, &counts);
			continue;
		}
		if (run.uses > uses)
			run.uses = uses;
		uses -= run.uses;
		*sum += run.count * run.uses;
		if (!add_uses(gather, token, run.count, run.uses))
			return false;
	}
	return true;
}

/* Adds the counts within a part that was executed `rounds` times. */
static bool add_inner(struct gather *gather, const struct gather_source *source, uint32_t part,
		uint64_t rounds)
{
	uint64_t inside[LOOPS_DEPTH_MAX + 2] = { rounds }; /* rounds of the loops around a token */
	uint32_t begin = source->part[part].begin, depth = source->token[begin].depth;

	for (uint32_t i = begin + 1; i < source->part[part].end; i++) {
		uint32_t level = source->token[i].depth - depth;
		uint64_t sum = 0;

		if (level > LOOPS_DEPTH_MAX ||
				!add_written(gather, source->part[part].to + i - begin,
						gather->at[i], inside[level - 1], &sum))
			return false;
		inside[level] = sum;
	}
	return true;
}

/* The round of the common loop that is being gathered. */
struct round {
	uint64_t number;
	uint32_t last; /* part that it ends with, so far; 0: none */
};

/* Adds a part that is repeated `count` times. Returns false if there is no room. */
static bool add_part(struct gather *gather, struct round *round, uint32_t to, uint64_t count)
{
	if (!count)
		return true;
	if (to <= round->last)
		round->number++;
	round->last = to;
	return add_uses(gather, to, 0, round->number - gather->list[to].uses) &&
			add_uses(gather, to, count, 1);
}

/* Adds the parts of a text in their order. */
static bool add_plain(struct gather *gather, const struct gather_source *source,
		struct round *round)
{
	for (uint32_t p = 0; p < source->parts; p++) {
		struct variants_counts counts;
		struct counts_run run;
		uint64_t times;

		variants_read(gather->at[source->part[p].begin], &counts);
		variants_next_run(&counts, &run);
		times = run.count * run.uses;
		if (counts.varies || !add_part(gather, round, source->part[p].to, times) ||
				!add_inner(gather, source, p, times))
			return false;
	}
	return true;
}

/* Adds the parts of a text that is gathered already, round by round. */
static bool add_gathered(struct gather *gather, const struct gather_source *source,
		struct round *round)
{
	static const struct gather_taking start;
	struct gather_taking *taking = gather->taking;
	struct variants_counts counts;
	struct counts_run rounds;

	variants_read(gather->at[0], &counts);
	variants_next_run(&counts, &rounds);
	for (uint32_t p = 0; p < source->parts; p++) {
		taking[p] = start;
		variants_read(gather->at[source->part[p].begin], &taking[p].counts);
	}
	for (uint32_t r = 0; r < rounds.count; r++)
		for (uint32_t p = 0; p < source->parts; p++) {
			struct gather_taking *part = &taking[p];

			if (!part->run.uses) {
				variants_next_run(&part->counts, &part->run);
				if (!part->counts.varies)
					part->run.uses = rounds.count;
			}
			part->run.uses--;
			part->total += part->run.count;
			if (!add_part(gather, round, source->part[p].to, part->run.count))
				return false;
		}
	for (uint32_t p = 0; p < source->parts; p++)
		if (!add_inner(gather, source, p, taking[p].total))
			return false;
	return true;
}

/* Writes the counts of a token. Returns the number of bytes, or 0 if they need more than `size`. */
static uint32_t write_list(const struct gather *gather, uint32_t token, uint8_t *bytes,
		uint32_t size)
{
	const struct gather_list *list = &gather->list[token];
	uint32_t runs = 0, length;

	for (uint32_t i = list->first; i; i = gather->run[i - 1].next)
		runs++;
	if (size < 2 * VARIANTS_TOKEN_BYTES)
		return 0;
	if (runs <= 1)
		return variants_write_same(
				(struct counts_run){ runs ? gather->run[list->first - 1].run.count :
							    0,
						1 },
				bytes);
	length = counts_write_run(bytes, (struct counts_run){ runs, 1 });
	for (uint32_t i = list->first; i; i = gather->run[i - 1].next) {
		if (size - length < COUNTS_RUN_BYTES)
			return 0;
		length += counts_write_run(bytes + length, gather->run[i - 1].run);
	}
	return length;
}

/* Notes how often a round has a part. */
static void note_range(struct gather *gather, uint32_t token)
{
	struct structure_token *part = &gather->token[token];

	for (uint32_t i = gather->list[token].first; i; i = gather->run[i - 1].next) {
		uint32_t count = gather->run[i - 1].run.count;

		part->least = count < part->least ? count : part->least;
		part->most = count > part->most ? count : part->most;
	}
}

uint32_t gather_counts(struct gather *gather, unsigned source, uint32_t ranks,
		const uint8_t *counts, uint8_t *bytes, uint32_t size)
{
	const struct gather_source *from = &gather->source[source];
	struct round round = { 0, 0 };
	uint32_t written = 0;

	gather->at[0] = counts;
	for (uint32_t i = 0; i < from->tokens; i++)
		gather->at[i + 1] = gather->at[i] + variants_length(gather->at[i]);
	gather->runs = 0;
	memset(gather->list, 0, gather->tokens * sizeof(gather->list[0]));
	if (!(from->gathered ? add_gathered(gather, from, &round) :
			       add_plain(gather, from, &round)))
		return 0;
	for (uint32_t i = 1; i < gather->tokens; i++)
		if (gather->token[i].depth == 1 &&
				!add_uses(gather, i, 0, round.number + 1 - gather->list[i].uses))
			return 0;
	if (!add_uses(gather, 0, round.number + 1, 1))
		return 0;
	for (uint32_t i = 0; i < gather->tokens; i++) {
		uint32_t length = write_list(gather, i, bytes + written, size - written);

		if (!length)
			return 0;
		written += length;
		if (gather->token[i].depth <= 1)
			note_range(gather, i);
	}
	gather->token[0].count += (double)(round.number + 1) * ranks;
	return written;
}
