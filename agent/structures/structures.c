/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/structures/structures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/hash.h"
#include "agent/structures/fit.h"
#include "agent/structures/gather.h"
#include "agent/structures/variants.h"
#include "cluster/loops/compare.h"
#include "cluster/loops/counts.h"
#include "cluster/loops/expand.h"
#include "cluster/loops/iteration.h"
#include "cluster/prototypes.h"

/* ---- the structure of one thread ---- */

struct sharing {
	const struct structures_thread *thread;
	struct structures *structures;
	struct structure *structure;
	struct route_end end[SITES_MAX]; /* of each symbol */
	uint64_t signature[SITES_MAX];
	const struct loops_token *iteration; /* NULL: there is none */
	uint32_t before; /* symbol of the call before the next token; LOOPS_ANY: not known */
	bool full;
	uint32_t count_bytes;
	uint8_t counts[VARIANTS_BYTES_MAX];
};

/* Returns the number of a path, which is added if it is missing; STRUCTURES_NONE: there is no room. */
static uint32_t path_number(struct structures *structures, const struct route_end *end)
{
	uint32_t number = routes_number_end(structures->path, &structures->paths,
			STRUCTURES_PATHS_MAX, end);

	return number < STRUCTURES_PATHS_MAX ? number : STRUCTURES_NONE;
}

static uint64_t signature_of(const void *data, uint32_t symbol)
{
	const struct sharing *sharing = data;

	return symbol < SITES_MAX ? sharing->signature[symbol] : symbol;
}

/* Finds the ends and the signatures of all symbols. */
static void sign_symbols(struct sharing *sharing, struct place_files *files)
{
	const struct structures_thread *thread = sharing->thread;

	for (uint32_t symbol = 0; symbol <= thread->sites->sites && symbol < SITES_MAX; symbol++) {
		struct route_end *end = &sharing->end[symbol];
		uint64_t hash = HASH_START;

		*end = routes_end(thread->sites, symbol, thread->modules, thread->count, files);
		hash = hash_bytes(hash, &end->call, sizeof(end->call));
		sharing->signature[symbol] =
				hash_bytes(hash, end->place, end->frames * sizeof(end->place[0]));
	}
}

/* Adds the time of the bursts between two sites to that of their prototypes. */
static void add_span(const struct site_table *sites, uint32_t from, uint32_t to,
		double ticks[PROTOTYPES_MAX])
{
	for (uint32_t i = 0; i <= sites->spans; i++) {
		const struct span *span = &sites->span[i];

		if (!span->used || span->from != from || span->to != to)
			continue;
		for (unsigned l = 0; l < span->lengths; l++)
			for (unsigned s = 0; s < SPAN_SHARES_MAX; s++) {
				const struct span_share *share =
						&sites->length[span_length_number(span, l)]
								 .share[s];

				if (share->prototype < PROTOTYPES_MAX)
					ticks[share->prototype] += span_share_ticks(share);
			}
	}
}

/* Returns the prototype with most time in the bursts before a call, or PROTOTYPES_MAX. */
static uint32_t prototype_before(const struct sharing *sharing, const struct loops_token *token)
{
	const struct site_table *sites = sharing->thread->sites;
	double ticks[PROTOTYPES_MAX] = { 0 }, most = 0;
	uint32_t prototype = PROTOTYPES_MAX;

	if (sharing->before != LOOPS_ANY)
		add_span(sites, sharing->before, token->symbol, ticks);
	if (token->most > 1)
		add_span(sites, token->symbol, token->symbol, ticks);
	for (uint32_t p = 0; p < PROTOTYPES_MAX; p++)
		if (ticks[p] > most) {
			most = ticks[p];
			prototype = p;
		}
	return prototype;
}

/* Returns the symbol of the last call in a loop, or LOOPS_ANY. */
static uint32_t last_symbol(const struct loops *loops, const struct loops_token *token)
{
	while (token->kind == LOOPS_LOOP)
		token = arena_look(loops, token->last);
	return token->kind == LOOPS_CALL ? token->symbol : LOOPS_ANY;
}

static bool share_token(const struct expand_token *visited, void *data)
{
	struct sharing *sharing = data;
	struct structures *structures = sharing->structures;
	const struct loops_token *token = visited->token;
	struct structure_token *shared = &structures->token[structures->tokens];
	double seconds_per_tick = sharing->thread->ns_per_tick * 1e-9;

	if (structures->tokens == STRUCTURES_TOKENS_MAX) {
		sharing->full = true;
		return false;
	}
	*shared = (struct structure_token){ .kind = token->kind,
		.depth = visited->depth,
		.path = STRUCTURES_NONE,
		.prototype = PROTOTYPES_MAX,
		.least = token->least,
		.most = token->most,
		.count = (double)token->slot.count };
	for (unsigned time = 0; time < SLOT_TIMES; time++) {
		shared->seconds[time] = (double)token->slot.sum[time] * seconds_per_tick;
		shared->rank_least[time] = shared->rank_most[time] =
				shared->count > 0 ? shared->seconds[time] / shared->count : 0;
	}
	if (token->kind == LOOPS_CALL && token->symbol < SITES_MAX) {
		shared->path = path_number(structures, &sharing->end[token->symbol]);
		shared->prototype = prototype_before(sharing, token);
	}
	sharing->count_bytes += variants_write(sharing->thread->loops, token,
			&sharing->counts[sharing->count_bytes]);
	if (token == sharing->iteration)
		sharing->structure->iteration = sharing->structure->tokens;
	/* most rounds of a loop come after another round */
	sharing->before = last_symbol(sharing->thread->loops, token);
	structures->tokens++;
	sharing->structure->tokens++;
	return true;
}

/* Finds the iteration, whose token share_token then numbers. */
static void share_iteration(struct sharing *sharing, const struct loops_names *names)
{
	const struct loops *loops = sharing->thread->loops;
	struct structure *structure = sharing->structure;
	struct iteration iteration;

	structure->iteration = STRUCTURES_NONE;
	if (!iteration_find(loops, names, &iteration))
		return;
	sharing->iteration = arena_look(loops, iteration.cell);
	structure->iterations = (double)iteration.rounds;
	structure->iterations_least = structure->iterations_most = structure->iterations;
	structure->iterations_hidden = (double)iteration.hidden;
	structure->iteration_uses = (double)iteration.uses;
	structure->iteration_share = iteration.share;
}

/* Adds the call that comes back regularly, where the text has no iteration. */
static void share_recurrence(struct sharing *sharing)
{
	const struct structures_thread *thread = sharing->thread;
	const struct recurrence *found = &thread->recurrence;

	if (sharing->iteration || !(found->rounds > 0) || found->symbol >= SITES_MAX)
		return;
	sharing->structure->recurrence = (struct structure_recurrence){ .ranks = 1,
		.first_rank = thread->rank,
		.path = path_number(sharing->structures, &sharing->end[found->symbol]),
		.likeness = found->likeness,
		.rounds = found->rounds,
		.calls = found->calls,
		.seconds = found->ticks * thread->ns_per_tick * 1e-9,
		.share = found->time_share };
}

/* Returns the number of calls up to which a text is exact, without those in holes, which are in no loop. */
static double expandable_calls(const struct loops *loops)
{
	uint64_t done = 0, holes = 0;

	if (loops->exact == UINT64_MAX)
		return INFINITY;
	for (unsigned place = 0; place < loops->tokens && done < loops->exact; place++) {
		uint64_t calls = arena_calls(loops, loops->cell[place]);

		if (calls > loops->exact - done)
			calls = loops->exact - done;
		done += calls;
		if (arena_look(loops, loops->cell[place])->kind == LOOPS_HOLE)
			holes += calls;
	}
	return (double)(loops->exact - holes);
}

/* Adds the process to the table, as the only one of a variant of its structure. */
static void share_counts(const struct sharing *sharing)
{
	const struct structures_thread *thread = sharing->thread;
	struct structures *structures = sharing->structures;
	struct structure_variant variant = { .structure = structures->count,
		.ranks = 1,
		.count_bytes = sharing->count_bytes,
		.calls = (double)thread->loops->calls,
		.expandable = expandable_calls(thread->loops) };
	struct rank_set set = { 0 };

	rank_set_add(&set, (struct rank_range){ thread->rank, 1, 1 });
	variants_add(structures, &variant, &set, sharing->counts);
}

void structures_share(const struct structures_thread *thread, struct place_files *files,
		struct structures *structures)
{
	struct sharing *sharing = thread->loops ? calloc(1, sizeof(*sharing)) : NULL;
	const struct loops_names names = { signature_of, sharing };
	struct structure *structure = &structures->all[structures->count];
	uint32_t tokens = structures->tokens;

	if (!sharing || structures->count == STRUCTURES_MAX) {
		structures->left_out++;
		free(sharing);
		return;
	}
	sharing->thread = thread;
	sharing->structures = structures;
	sharing->structure = structure;
	sharing->before = LOOPS_ANY;
	sign_symbols(sharing, files);
	*structure = (struct structure){ .shape = compare_shape(thread->loops, &names),
		.ranks = 1,
		.first_rank = thread->rank,
		.first = tokens,
		.calls = (double)thread->loops->calls,
		.unknown = (double)thread->loops->unknown,
		.exact = thread->loops->exact == UINT64_MAX ? INFINITY :
							      (double)thread->loops->exact };
	share_iteration(sharing, &names);
	share_recurrence(sharing);
	expand_tokens(thread->loops, share_token, sharing);
	if (sharing->full) {
		structures->tokens = tokens;
		structures->left_out++;
	} else {
		share_counts(sharing);
		structures->count++;
	}
	free(sharing);
}

/* ---- structures of several processes ---- */

/* What merging needs. */
struct merging {
	struct fit fit;
	struct structure_token token[LOOPS_CELLS];
	uint8_t counts[VARIANTS_BYTES_MAX];
	uint8_t old_counts[VARIANTS_BYTES_MAX];
	struct gather gather;
};

static double least_of(double x, double y)
{
	return x < y ? x : y;
}

static double most_of(double x, double y)
{
	return x > y ? x : y;
}

/* Returns the token of a fit that is token `wanted` of the structure that fits, or STRUCTURES_NONE. */
static uint32_t find_token(const struct fit *fit, uint32_t wanted)
{
	for (uint32_t i = 0; i < fit->tokens && wanted != STRUCTURES_NONE; i++)
		for (uint32_t copy = 0; copy < fit->place[i].copies; copy++)
			if (fit->place[i].token[copy] == wanted)
				return i;
	return STRUCTURES_NONE;
}

/*
 * Merges what is known of the iterations. A structure that has none may have executed the iteration of the other one
 * once or twice.
 */
static void merge_iteration(const struct merging *merging, const struct structure *more,
		struct structure *structure)
{
	const struct fit *fit = &merging->fit;
	uint32_t iteration = find_token(fit, more->iteration);
	double least = structure->iterations_least, most = structure->iterations_most;

	if (iteration == STRUCTURES_NONE && structure->iteration != STRUCTURES_NONE) {
		const struct structure_token *token = &merging->token[structure->iteration];

		if (!token->depth && token->kind == LOOPS_LOOP)
			structure->iterations_least = least_of(least, token->least);
	}
	if (iteration == STRUCTURES_NONE)
		return;
	if (structure->iteration == iteration) {
		least = least_of(least, more->iterations_least);
		most = most_of(most, more->iterations_most);
	}
	if (structure->iteration == STRUCTURES_NONE || more->first_rank < structure->first_rank) {
		if (structure->iteration != iteration) {
			least = more->iterations_least;
			most = more->iterations_most;
		}
		structure->iteration = iteration;
		structure->iterations = more->iterations;
		structure->iterations_hidden = more->iterations_hidden;
		structure->iteration_uses = more->iteration_uses;
		structure->iteration_share = more->iteration_share;
	}
	structure->iterations_least = least;
	structure->iterations_most = most;
}

/* Returns what is known of a recurrence, with the number of its path in the table `into`. */
static struct structure_recurrence move_recurrence(const struct fit_structure *from,
		struct structures *into)
{
	struct structure_recurrence recurrence = from->structure->recurrence;

	if (recurrence.ranks && recurrence.path < from->table->paths)
		recurrence.path = path_number(into, &from->table->path[recurrence.path]);
	return recurrence;
}

/* Merges what is known of the recurrences: it is that of the first rank which has one. */
static void merge_recurrence(const struct fit_structure *more, struct structures *into,
		struct structure_recurrence *recurrence)
{
	struct structure_recurrence other = move_recurrence(more, into);
	uint32_t ranks = recurrence->ranks + other.ranks;

	if (other.ranks && (!recurrence->ranks || other.first_rank < recurrence->first_rank))
		*recurrence = other;
	recurrence->ranks = ranks;
}

/* Adds the variants of a structure to those of one that it fits. */
static void merge_variants(struct merging *merging, const struct fit_structure *more,
		struct structures *into, uint32_t structure)
{
	uint32_t number = (uint32_t)(more->structure - more->table->all);
	uint32_t variants = more->table->variants; /* of before: `into` may be the same table */

	for (uint32_t i = 0; i < variants; i++) {
		struct structure_variant variant = more->table->variant[i];
		struct rank_set set = variants_ranks(more->table, &variant);

		if (variant.structure != number)
			continue;
		variant.structure = structure;
		if (variant.count_bytes)
			variant.count_bytes = fit_counts(&merging->fit, more,
					&more->table->counts[variant.first_count], merging->counts,
					sizeof(merging->counts));
		variants_add(into, &variant, &set, merging->counts);
	}
}

/* Adds a structure to one that it fits, by merging->fit. */
static void merge_fitting(struct merging *merging, const struct fit_structure *more,
		struct structures *into, uint32_t number)
{
	struct structure *structure = &into->all[number];
	const struct fit_structure to = { into, structure };

	fit_tokens(&merging->fit, &to, more, merging->token);
	for (uint32_t i = 0; i < structure->tokens; i++)
		gather_token(&merging->token[i], &into->token[structure->first + i]);
	merge_iteration(merging, more->structure, structure);
	merge_recurrence(more, into, &structure->recurrence);
	merge_variants(merging, more, into, number);
	if (more->structure->first_rank < structure->first_rank)
		structure->first_rank = more->structure->first_rank;
	structure->ranks += more->structure->ranks;
	structure->calls += more->structure->calls;
	structure->unknown += more->structure->unknown;
	structure->exact = least_of(structure->exact, more->structure->exact);
}

/* Returns whether a structure fits another one. Then merging->fit says how. */
static bool fits(struct merging *merging, const struct fit_structure *loops,
		const struct fit_structure *flat)
{
	uint32_t number = (uint32_t)(flat->structure - flat->table->all);

	if (loops->structure->gathered || flat->structure->gathered ||
			!fit_find(&merging->fit, loops, flat))
		return false;
	for (uint32_t i = 0; i < flat->table->variants; i++) {
		const struct structure_variant *variant = &flat->table->variant[i];

		if (variant->structure == number && variant->count_bytes &&
				!fit_counts(&merging->fit, flat,
						&flat->table->counts[variant->first_count],
						merging->counts, sizeof(merging->counts)))
			return false;
	}
	return true;
}

/* Returns the number of the structure that this one fits, or STRUCTURES_NONE. Then merging->fit says how. */
static uint32_t find_fitting(struct merging *merging, const struct structures *structures,
		const struct fit_structure *wanted)
{
	for (uint32_t i = 0; i < structures->count; i++) {
		const struct structure *structure = &structures->all[i];

		if (!structure->gathered && !wanted->structure->gathered &&
				structure->shape == wanted->structure->shape &&
				structure->tokens == wanted->structure->tokens) {
			fit_same(&merging->fit, structure->tokens);
			return i;
		}
	}
	for (uint32_t i = 0; i < structures->count; i++) {
		const struct fit_structure loops = { structures, &structures->all[i] };

		if (fits(merging, &loops, wanted))
			return i;
	}
	return STRUCTURES_NONE;
}

/* Removes a structure. Those behind it move. */
static void remove_structure(struct structures *structures, uint32_t number)
{
	const struct structure gone = structures->all[number];
	uint32_t end = gone.first + gone.tokens;

	variants_remove(structures, number);
	memmove(&structures->token[gone.first], &structures->token[end],
			(structures->tokens - end) * sizeof(structures->token[0]));
	structures->tokens -= gone.tokens;
	structures->count--;
	memmove(&structures->all[number], &structures->all[number + 1],
			(structures->count - number) * sizeof(gone));
	for (uint32_t i = 0; i < structures->count; i++)
		if (structures->all[i].first > gone.first)
			structures->all[i].first -= gone.tokens;
	for (uint32_t i = 0; i < structures->variants; i++)
		structures->variant[i].structure -= structures->variant[i].structure > number;
}

/* Merges the other structures into the last one if they fit it. */
static void gather_fitting(struct merging *merging, struct structures *structures)
{
	for (uint32_t i = structures->count - 1; i--;) {
		uint32_t last = structures->count - 1;
		const struct fit_structure loops = { structures, &structures->all[last] };
		const struct fit_structure flat = { structures, &structures->all[i] };

		if (!fits(merging, &loops, &flat))
			continue;
		merge_fitting(merging, &flat, structures, last);
		remove_structure(structures, i);
	}
}

/* Adds a structure to those of `into`. Returns false if there is no room. */
static bool add_structure(struct merging *merging, const struct fit_structure *more,
		struct structures *into)
{
	struct structure *structure = &into->all[into->count];
	uint32_t tokens = more->structure->tokens;

	if (into->count == STRUCTURES_MAX || tokens > STRUCTURES_TOKENS_MAX - into->tokens)
		return false;
	*structure = *more->structure;
	structure->first = into->tokens;
	structure->recurrence = move_recurrence(more, into);
	for (uint32_t i = 0; i < tokens; i++) {
		struct structure_token *token = &into->token[into->tokens++];

		*token = more->table->token[more->structure->first + i];
		if (token->path < more->table->paths)
			token->path = path_number(into, &more->table->path[token->path]);
	}
	fit_same(&merging->fit, tokens);
	merge_variants(merging, more, into, into->count++);
	return true;
}

/* ---- structures of processes of which other calls were not observed ---- */

static bool has_holes(const struct structure *structure)
{
	return structure->unknown > 0 || structure->gathered;
}

/* Copies the tokens of a structure to a source, with numbers of paths of the table `into`. */
static void copy_source(const struct fit_structure *one, struct structures *into,
		struct gather_source *source)
{
	source->tokens = one->structure->tokens;
	source->gathered = one->structure->gathered;
	source->ranks = one->structure->ranks;
	for (uint32_t i = 0; i < source->tokens; i++) {
		struct structure_token *token = &source->token[i];

		*token = one->table->token[one->structure->first + i];
		if (token->path < one->table->paths && one->table != into)
			token->path = path_number(into, &one->table->path[token->path]);
	}
}

/* A variant of a source. */
struct source_variant {
	unsigned source;
	struct structure_variant variant;
	struct rank_set ranks;
	const uint8_t *counts;
};

/* Adds a variant of a source to the structure `number`, which has the common text. */
static void gather_variant(struct merging *merging, const struct source_variant *own,
		struct structures *into, uint32_t number)
{
	struct structure_variant gathered = own->variant;

	gathered.structure = number;
	if (gathered.count_bytes)
		gathered.count_bytes = gather_counts(&merging->gather, own->source, gathered.ranks,
				own->counts, merging->counts, sizeof(merging->counts));
	variants_add(into, &gathered, &own->ranks, merging->counts);
}

/* Moves the variants of a structure to the one with the common text. */
static void gather_own(struct merging *merging, struct structures *into, uint32_t old, uint32_t new)
{
	struct source_variant own = { .source = 0, .counts = merging->old_counts };

	for (uint32_t i = 0; i < into->variants;) {
		own.variant = into->variant[i];
		if (own.variant.structure != old) {
			i++;
			continue;
		}
		own.ranks = variants_ranks(into, &own.variant);
		memcpy(merging->old_counts, &into->counts[own.variant.first_count],
				own.variant.count_bytes);
		variants_take(into, i);
		gather_variant(merging, &own, into, new);
	}
}

/* Adds the variants of a structure of another table to the one with the common text. */
static void gather_others(struct merging *merging, const struct fit_structure *more,
		struct structures *into, uint32_t new)
{
	uint32_t from = (uint32_t)(more->structure - more->table->all);

	for (uint32_t i = 0; i < more->table->variants; i++) {
		struct source_variant other = { .source = 1, .variant = more->table->variant[i] };

		if (other.variant.structure != from)
			continue;
		other.ranks = variants_ranks(more->table, &other.variant);
		other.counts = &more->table->counts[other.variant.first_count];
		gather_variant(merging, &other, into, new);
	}
}

/* Makes the sum of two structures. Their text is the common one. */
static struct structure add_up(const struct merging *merging, const struct structure *a,
		const struct structure *b, const struct structures *into)
{
	unsigned first = a->iteration == STRUCTURES_NONE ||
			(b->iteration != STRUCTURES_NONE && b->first_rank < a->first_rank);
	struct structure sum = first ? *b : *a;

	if (a->iteration != STRUCTURES_NONE && b->iteration != STRUCTURES_NONE) {
		sum.iterations_least = least_of(a->iterations_least, b->iterations_least);
		sum.iterations_most = most_of(a->iterations_most, b->iterations_most);
	}
	sum.iteration = gather_place(&merging->gather, first, sum.iteration);
	sum.shape = 0;
	sum.gathered = 1;
	sum.ranks = a->ranks + b->ranks;
	sum.first_rank = a->first_rank < b->first_rank ? a->first_rank : b->first_rank;
	sum.first = into->tokens;
	sum.tokens = merging->gather.tokens;
	sum.calls = a->calls + b->calls;
	sum.unknown = a->unknown + b->unknown;
	sum.exact = least_of(a->exact, b->exact);
	return sum;
}

/* Returns whether the counts of all variants of a structure, which is a source, can be those of the common text. */
static bool counts_gather(struct merging *merging, unsigned source, const struct fit_structure *one)
{
	uint32_t number = (uint32_t)(one->structure - one->table->all);

	for (uint32_t i = 0; i < one->table->variants; i++) {
		const struct structure_variant *variant = &one->table->variant[i];

		if (variant->structure == number && variant->count_bytes &&
				!gather_counts(&merging->gather, source, variant->ranks,
						&one->table->counts[variant->first_count],
						merging->counts, sizeof(merging->counts)))
			return false;
	}
	return true;
}

/* Merges a structure with the one of `into` that has this number. Returns false if they are not alike, or without room. */
static bool gather_with(struct merging *merging, const struct fit_structure *more,
		struct structures *into, uint32_t number)
{
	const struct fit_structure own = { into, &into->all[number] };
	struct gather *gather = &merging->gather;
	uint32_t new = into->count;

	if (new == STRUCTURES_MAX || !has_holes(own.structure))
		return false;
	copy_source(&own, into, &gather->source[0]);
	if (!gather_is_alike(gather) || !gather_texts(gather) ||
			gather->tokens > STRUCTURES_TOKENS_MAX - into->tokens ||
			!counts_gather(merging, 0, &own) || !counts_gather(merging, 1, more))
		return false;
	gather_texts(gather); /* without the numbers of the trial */
	into->all[new] = add_up(merging, own.structure, more->structure, into);
	into->all[new].recurrence = own.structure->recurrence;
	merge_recurrence(more, into, &into->all[new].recurrence);
	into->count++;
	gather_own(merging, into, number, new);
	gather_others(merging, more, into, new);
	gather_finish(gather);
	memcpy(&into->token[into->tokens], gather->token,
			gather->tokens * sizeof(gather->token[0]));
	into->tokens += gather->tokens;
	remove_structure(into, number);
	return true;
}

/* Merges a structure with one that makes the same calls, if not all calls of both were observed. */
static bool gather(struct merging *merging, const struct fit_structure *more,
		struct structures *into)
{
	if (!has_holes(more->structure))
		return false;
	copy_source(more, into, &merging->gather.source[1]);
	for (uint32_t i = 0; i < into->count; i++)
		if (gather_with(merging, more, into, i))
			return true;
	return false;
}

/* Adds the processes of one structure. Returns false if there is no room. */
static bool merge_one(struct merging *merging, const struct fit_structure *more,
		struct structures *into)
{
	uint32_t number = find_fitting(merging, into, more);

	if (number != STRUCTURES_NONE) {
		merge_fitting(merging, more, into, number);
		return true;
	}
	if (gather(merging, more, into))
		return true;
	if (!add_structure(merging, more, into))
		return false;
	gather_fitting(merging, into);
	return true;
}

void structures_merge(const void *in, void *inout)
{
	const struct structures *from = in;
	struct structures *into = inout;
	struct merging *merging = from->count ? malloc(sizeof(*merging)) : NULL;

	into->left_out += from->left_out;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct fit_structure more = { from, &from->all[i] };

		if (!merging || !merge_one(merging, &more, into))
			into->left_out += more.structure->ranks;
	}
	free(merging);
}

void structures_restore(struct structures *structures, const struct place_files *files,
		struct place_modules *modules)
{
	for (uint32_t i = 0; i < structures->paths; i++)
		routes_restore_end(&structures->path[i], files, modules);
}
