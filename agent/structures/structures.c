/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/structures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/hash.h"
#include "cluster/loops/compare.h"
#include "cluster/loops/counts.h"
#include "cluster/loops/expand.h"
#include "cluster/loops/iteration.h"
#include "cluster/prototypes.h"

/* of one thread: its cells, and the last run of each token, which is not in a cell */
#define COUNT_BYTES_MAX                                                                            \
	(LOOPS_COUNTS_MAX * LOOPS_CHUNK_BYTES + (LOOPS_CELLS - LOOPS_COUNTS_MAX) * COUNTS_RUN_BYTES)

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
};

/* Returns the number of a path, which is added if it is missing; STRUCTURES_NONE: there is no room. */
static uint32_t path_number(struct structures *structures, const struct route_end *end)
{
	for (uint32_t i = 0; i < structures->paths; i++)
		if (routes_compare_ends(&structures->path[i], end) == 0)
			return i;
	if (structures->paths == STRUCTURES_PATHS_MAX)
		return STRUCTURES_NONE;
	structures->path[structures->paths] = *end;
	return structures->paths++;
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

/* Adds the counts of a token. There is room: structures_share has ensured it. */
static void share_counts(struct sharing *sharing, const struct loops_token *token,
		struct structure_token *shared)
{
	const struct loops *loops = sharing->thread->loops;
	struct structures *structures = sharing->structures;
	struct structure *structure = sharing->structure;
	struct counts_reader reader = { 0 };

	shared->first_count = structure->count_bytes;
	for (uint64_t left = counts_period(loops, token, 0); left;) {
		uint64_t uses = counts_next_run(loops, token, &reader, left);

		structures->count_bytes +=
				counts_write_run(&structures->counts[structures->count_bytes],
						(struct counts_run){ reader.count, uses });
		left -= uses;
	}
	structure->count_bytes = structures->count_bytes - structure->first_count;
	shared->count_bytes = structure->count_bytes - shared->first_count;
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
	share_counts(sharing, token, shared);
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
	structure->iterations_hidden = (double)iteration.hidden;
	structure->iteration_uses = (double)iteration.uses;
	structure->iteration_share = iteration.share;
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

void structures_share(const struct structures_thread *thread, struct place_files *files,
		struct structures *structures)
{
	struct sharing *sharing = thread->loops ? calloc(1, sizeof(*sharing)) : NULL;
	const struct loops_names names = { signature_of, sharing };
	struct structure *structure = &structures->all[structures->count];
	uint32_t tokens = structures->tokens, count_bytes = structures->count_bytes;

	if (!sharing || structures->count == STRUCTURES_MAX ||
			count_bytes + COUNT_BYTES_MAX > STRUCTURES_COUNT_BYTES) {
		structures->left_out++;
		free(sharing);
		return;
	}
	sharing->thread = thread;
	sharing->structures = structures;
	sharing->structure = structure;
	sharing->before = LOOPS_ANY;
	sign_symbols(sharing, files);
	*structure = (struct structure){ .hash = compare_hash(thread->loops, &names),
		.ranks = 1,
		.first_rank = thread->rank,
		.first = tokens,
		.first_count = count_bytes,
		.calls = (double)thread->loops->calls,
		.unknown = (double)thread->loops->unknown,
		.exact = thread->loops->exact == UINT64_MAX ? INFINITY :
							      (double)thread->loops->exact,
		.expandable = expandable_calls(thread->loops) };
	rank_set_add(&structure->set, (struct rank_range){ thread->rank, 1, 1 });
	share_iteration(sharing, &names);
	expand_tokens(thread->loops, share_token, sharing);
	if (sharing->full) {
		structures->tokens = tokens;
		structures->count_bytes = count_bytes;
		structures->left_out++;
	} else {
		structures->count++;
	}
	free(sharing);
}

/* ---- structures of several processes ---- */

static double least_of(double x, double y)
{
	return x < y ? x : y;
}

static double most_of(double x, double y)
{
	return x > y ? x : y;
}

static void merge_token(const struct structure_token *from, struct structure_token *into)
{
	into->least = from->least < into->least ? from->least : into->least;
	into->most = from->most > into->most ? from->most : into->most;
	into->count += from->count;
	if (into->prototype == PROTOTYPES_MAX)
		into->prototype = from->prototype;
	for (unsigned time = 0; time < SLOT_TIMES; time++) {
		into->seconds[time] += from->seconds[time];
		into->rank_least[time] = least_of(into->rank_least[time], from->rank_least[time]);
		into->rank_most[time] = most_of(into->rank_most[time], from->rank_most[time]);
	}
}

/* Returns the structure of the table with this text, or NULL. */
static struct structure *find_equal(struct structures *structures, const struct structure *wanted)
{
	for (uint32_t i = 0; i < structures->count; i++) {
		struct structure *structure = &structures->all[i];

		if (structure->hash == wanted->hash && structure->tokens == wanted->tokens)
			return structure;
	}
	return NULL;
}

static void merge_equal(const struct structures *from, const struct structure *more,
		struct structures *into, struct structure *structure)
{
	for (uint32_t i = 0; i < structure->tokens; i++)
		merge_token(&from->token[more->first + i], &into->token[structure->first + i]);
	if (more->first_rank < structure->first_rank) {
		structure->first_rank = more->first_rank;
		structure->iteration = more->iteration;
		structure->iterations = more->iterations;
		structure->iterations_hidden = more->iterations_hidden;
		structure->iteration_uses = more->iteration_uses;
		structure->iteration_share = more->iteration_share;
	}
	structure->ranks += more->ranks;
	structure->calls += more->calls;
	structure->unknown += more->unknown;
	structure->exact = least_of(structure->exact, more->exact);
	structure->expandable = least_of(structure->expandable, more->expandable);
	rank_set_merge(&more->set, &structure->set);
}

/* Adds the counts of a structure, to the tokens of which `structure` has the copies. */
static void add_counts(const struct structures *from, const struct structure *more,
		struct structures *into, struct structure *structure)
{
	structure->first_count = into->count_bytes;
	if (more->count_bytes <= STRUCTURES_COUNT_BYTES - into->count_bytes) {
		memcpy(&into->counts[into->count_bytes], &from->counts[more->first_count],
				more->count_bytes);
		into->count_bytes += more->count_bytes;
		return;
	}
	structure->count_bytes = 0;
	structure->expandable = 0;
	for (uint32_t i = 0; i < structure->tokens; i++)
		into->token[structure->first + i].count_bytes = 0;
}

/* Adds a structure to those of `into`. Returns false if there is no room. */
static bool add_structure(const struct structures *from, const struct structure *more,
		struct structures *into)
{
	struct structure *structure = &into->all[into->count];

	if (into->count == STRUCTURES_MAX || more->tokens > STRUCTURES_TOKENS_MAX - into->tokens)
		return false;
	*structure = *more;
	structure->first = into->tokens;
	for (uint32_t i = 0; i < more->tokens; i++) {
		struct structure_token *token = &into->token[into->tokens++];

		*token = from->token[more->first + i];
		if (token->path < from->paths)
			token->path = path_number(into, &from->path[token->path]);
	}
	add_counts(from, more, into, structure);
	into->count++;
	return true;
}

void structures_merge(const void *in, void *inout)
{
	const struct structures *from = in;
	struct structures *into = inout;

	into->left_out += from->left_out;
	for (uint32_t i = 0; i < from->count; i++) {
		const struct structure *more = &from->all[i];
		struct structure *equal = find_equal(into, more);

		if (equal)
			merge_equal(from, more, into, equal);
		else if (!add_structure(from, more, into))
			into->left_out += more->ranks;
	}
}

bool structures_next_run(const struct structures *structures, const struct structure *structure,
		const struct structure_token *token, uint32_t *at, struct counts_run *run)
{
	const uint8_t *bytes = &structures->counts[structure->first_count + token->first_count];

	if (*at >= token->count_bytes)
		return false;
	*at += counts_read_run(bytes + *at, run);
	return true;
}

void structures_restore(struct structures *structures, const struct place_files *files,
		struct place_modules *modules)
{
	for (uint32_t i = 0; i < structures->paths; i++)
		routes_restore_end(&structures->path[i], files, modules);
}
