/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/structure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/boundary/calls.h"
#include "agent/report/parts/document.h"
#include "agent/structures/variants.h"
#include "cluster/streams/stream_bytes.h"

#define UNKNOWN_FEW 0.01 /* share of the calls that may be unobserved if iterations are counted */

/* What the tokens of one structure are shown with. */
struct showing {
	const struct structure_facts *facts;
	const struct structures *structures;
	const struct structure *structure;
	json_t **place; /* of each path, as it was named */
	const uint8_t *counts; /* of the next token, if all ranks have the same counts; NULL: they differ */
};

static json_t *range(double least, double most)
{
	return json_pack("[f,f]", least, most);
}

/* Returns the mean time of one of the token's calls or rounds, and the range of the means of the ranks. */
static json_t *times(const struct structure_token *token, enum slot_time time)
{
	return json_pack("{s:o,s:o}", "mean", document_number(token->seconds[time] / token->count),
			"ranks", range(token->rank_least[time], token->rank_most[time]));
}

/* Returns the number of the phase of the bursts before a call, or null. */
static json_t *phase_before(const struct showing *showing, const struct structure_token *token)
{
	const struct prototype_table *table = showing->facts->table;
	uint32_t phase = token->prototype < table->count ? table->all[token->prototype].phase : 0;
	unsigned number = phase <= PROTOTYPES_MAX ? showing->facts->phase_number[phase] : 0;

	return number ? json_integer(number) : json_null();
}

/* Returns the counts of all uses of a token, as runs. */
static json_t *runs_list(struct variants_counts *counts)
{
	json_t *list = json_array();
	struct counts_run run;

	while (variants_next_run(counts, &run))
		list = document_append(list,
				json_pack("[I,I]", (json_int_t)run.count, (json_int_t)run.uses));
	return list;
}

/* Returns the counts of each token of a variant: one number if all uses are alike. */
static json_t *counts_list(const struct showing *showing, const struct structure_variant *variant)
{
	const uint8_t *bytes = &showing->structures->counts[variant->first_count];
	json_t *list = json_array();

	for (uint32_t i = 0; i < showing->structure->tokens; i++) {
		struct variants_counts counts;
		struct counts_run run;

		bytes += variants_read(bytes, &counts);
		if (counts.varies) {
			list = document_append(list, runs_list(&counts));
			bytes = counts.bytes;
			continue;
		}
		bytes += variants_next_run(&counts, &run);
		list = document_append(list,
				json_integer((json_int_t)run.count * (json_int_t)run.uses));
	}
	return list;
}

static json_t *call_object(const struct showing *showing, const struct structure_token *token)
{
	json_t *call = token->path < showing->structures->paths ?
			json_copy(showing->place[token->path]) :
			json_pack("{s:s,s:n,s:n}", "call", "", "function", "position");

	return document_set(call, "phase", phase_before(showing, token));
}

/*
 * Returns the counts of the next token if they vary, and are the same in all ranks. Else returns NULL. If they began to
 * vary only behind the call up to which the text is exact, the one that is known is the count of all uses before it.
 */
static json_t *next_counts(struct showing *showing, const struct structure_token *token)
{
	struct variants_counts counts;
	const uint8_t *bytes = showing->counts;

	if (!bytes)
		return NULL;
	showing->counts += variants_length(bytes);
	variants_read(bytes, &counts);
	return counts.varies || token->least != token->most ? runs_list(&counts) : NULL;
}

static json_t *body(struct showing *showing, uint32_t *next, uint32_t depth);

/* Returns a token, with its body if it is a loop. number: of the token in its structure; *next: behind the body. */
static json_t *token_object(struct showing *showing, uint32_t number, uint32_t *next)
{
	const struct structure_token *token =
			&showing->structures->token[showing->structure->first + number];
	json_t *object, *counts = next_counts(showing, token);

	if (token->kind == LOOPS_LOOP) {
		object = json_pack("{s:b}", "iteration", number == showing->structure->iteration);
		object = document_set(object, "body", body(showing, next, token->depth + 1));
	} else if (token->kind == LOOPS_CALL) {
		object = call_object(showing, token);
	} else {
		object = json_pack("{s:b}", "unobserved", 1);
	}
	object = document_set(object, "repeats", range(token->least, token->most));
	if (counts)
		object = document_set(object, "counts", counts);
	object = document_set(object, "count", json_real(token->count));
	object = document_set(object, "burst_seconds", times(token, SLOT_BURST));
	return document_set(object, "call_seconds", times(token, SLOT_INSIDE));
}

/* Returns the tokens of one depth from *next on, which becomes the number of the first token behind them. */
static json_t *body(struct showing *showing, uint32_t *next, uint32_t depth)
{
	const struct structure_token *tokens =
			&showing->structures->token[showing->structure->first];
	json_t *list = json_array();

	while (*next < showing->structure->tokens && tokens[*next].depth == depth) {
		uint32_t number = (*next)++;

		list = document_append(list, token_object(showing, number, next));
	}
	return list;
}

/* Returns how much the iterations of a rank vary, or null. mean: of all of them, in seconds. */
static json_t *iteration_seconds(const struct showing *showing, double mean)
{
	const struct iteration_spread *spread = showing->facts->iterations;

	/* those of ranks with several structures are not comparable */
	if (!spread || showing->structures->count != 1 || !iteration_spread_is_like(spread, mean))
		return json_null();
	return json_pack("{s:o,s:o,s:o,s:o,s:o}", "measured", document_whole(spread->count), "mean",
			document_number(iteration_spread_mean(spread)), "sd",
			document_number(iteration_spread_sd(spread)), "least",
			document_number(spread->least), "most", document_number(spread->most));
}

static json_t *iteration_object(const struct showing *showing)
{
	const struct structure *structure = showing->structure;
	const struct structure_token *token;
	double mean;

	if (structure->iteration >= structure->tokens)
		return json_null();
	token = &showing->structures->token[structure->first + structure->iteration];
	mean = (token->seconds[SLOT_BURST] + token->seconds[SLOT_INSIDE]) / token->count;
	return json_pack("{s:f,s:o,s:f,s:f,s:f,s:o,s:o}", "rounds", structure->iterations,
			"rank_rounds",
			range(structure->iterations_least, structure->iterations_most),
			"hidden_rounds", structure->iterations_hidden, "times",
			structure->iteration_uses, "time_share", structure->iteration_share,
			"mean_seconds", document_number(mean), "seconds",
			iteration_seconds(showing, mean));
}

/* Returns the call that comes back regularly, or null if there is none, or an iteration. */
static json_t *recurrence_object(const struct showing *showing)
{
	const struct structure_recurrence *recurrence = &showing->structure->recurrence;
	json_t *object;

	if (showing->structure->iteration < showing->structure->tokens || !recurrence->ranks)
		return json_null();
	object = recurrence->path < showing->structures->paths ?
			json_copy(showing->place[recurrence->path]) :
			json_pack("{s:s,s:n,s:n}", "call", "", "function", "position");
	object = document_set(object, "ranks", json_integer(recurrence->ranks));
	object = document_set(object, "first_rank", json_integer(recurrence->first_rank));
	object = document_set(object, "likeness", json_real(recurrence->likeness));
	object = document_set(object, "rounds", json_real(recurrence->rounds));
	object = document_set(object, "mean_calls", json_real(recurrence->calls));
	object = document_set(object, "mean_seconds", json_real(recurrence->seconds));
	return document_set(object, "time_share", json_real(recurrence->share));
}

static int by_first(const void *a, const void *b)
{
	const struct rank_range *x = a, *y = b;

	return (x->first > y->first) - (x->first < y->first);
}

static json_t *ranges_list(const struct rank_set *set)
{
	struct rank_set sorted = *set;
	json_t *list = json_array();

	qsort(sorted.range, sorted.count, sizeof(sorted.range[0]), by_first);
	for (uint32_t i = 0; i < sorted.count; i++)
		list = document_append(list,
				json_pack("[I,I,I]", (json_int_t)sorted.range[i].first,
						(json_int_t)sorted.range[i].step,
						(json_int_t)sorted.range[i].count));
	return list;
}

/* Goes to the next variant of the structure that is shown, from *at on. Returns NULL if there is none. */
static const struct structure_variant *next_variant(const struct showing *showing, uint32_t number,
		uint32_t *at)
{
	while (*at < showing->structures->variants) {
		const struct structure_variant *variant = &showing->structures->variant[(*at)++];

		if (variant->structure == number)
			return variant;
	}
	return NULL;
}

static json_t *variant_object(const struct showing *showing,
		const struct structure_variant *variant)
{
	struct rank_set set = variants_ranks(showing->structures, variant);

	return json_pack("{s:i,s:o,s:f,s:o,s:o}", "ranks", (int)variant->ranks, "rank_ranges",
			ranges_list(&set), "calls", variant->calls, "expandable_calls",
			document_number(variant->expandable), "counts",
			variant->count_bytes ? counts_list(showing, variant) : json_null());
}

/* What all variants of a structure say. */
struct all_variants {
	json_t *list; /* NULL: all ranks have the same counts, which are in the text */
	struct rank_set set;
	double expandable;
};

static struct all_variants all_variants(struct showing *showing, uint32_t number)
{
	struct all_variants all = { NULL, { 0 }, INFINITY };
	const struct structure_variant *variant;
	uint32_t variants = 0, lost = 0;

	showing->counts = NULL;
	for (uint32_t at = 0; (variant = next_variant(showing, number, &at)); variants++) {
		struct rank_set set = variants_ranks(showing->structures, variant);
		double expandable = variant->count_bytes ? variant->expandable : 0;

		rank_set_merge(&set, &all.set);
		all.expandable = expandable < all.expandable ? expandable : all.expandable;
		lost += !variant->count_bytes;
		showing->counts = &showing->structures->counts[variant->first_count];
	}
	if (variants == 1 && !lost && !showing->structure->gathered)
		return all;
	showing->counts = NULL;
	all.list = json_array();
	for (uint32_t at = 0; (variant = next_variant(showing, number, &at));)
		all.list = document_append(all.list, variant_object(showing, variant));
	return all;
}

static json_t *structure_object(struct showing *showing, uint32_t number)
{
	const struct structure *structure = &showing->structures->all[number];
	struct all_variants all;
	uint32_t next = 0;
	json_t *object;

	showing->structure = structure;
	all = all_variants(showing, number);
	object = json_pack("{s:i,s:i,s:o,s:f,s:f,s:o,s:o,s:o,s:o}", "ranks", (int)structure->ranks,
			"first_rank", (int)structure->first_rank, "rank_ranges",
			ranges_list(&all.set), "calls", structure->calls, "unobserved_calls",
			structure->unknown, "exact_calls", document_number(structure->exact),
			"expandable_calls", document_number(all.expandable), "iteration",
			iteration_object(showing), "text", body(showing, &next, 0));
	object = document_set(object, "recurrence", recurrence_object(showing));
	object = document_set(object, "gathered", json_boolean(structure->gathered));
	return document_set(object, "variants", all.list ? all.list : json_null());
}

/* A structure, by which they are sorted. */
struct ordered {
	const struct structure *structure;
	uint32_t number;
};

static int by_ranks(const void *a, const void *b)
{
	const struct structure *x = ((const struct ordered *)a)->structure,
			       *y = ((const struct ordered *)b)->structure;

	if (x->ranks != y->ranks)
		return (x->ranks < y->ranks) - (x->ranks > y->ranks);
	return (x->first_rank > y->first_rank) - (x->first_rank < y->first_rank);
}

/* ---- the arguments of the calls ---- */

static const char *const argument_keys[ARGUMENTS] = {
	[ARGUMENT_TO] = "to",
	[ARGUMENT_FROM] = "from",
	[ARGUMENT_ROOT] = "root",
	[ARGUMENT_BYTES] = "bytes",
	[ARGUMENT_TAG] = "tag",
	[ARGUMENT_FROM_BYTES] = "from_bytes",
	[ARGUMENT_FROM_TAG] = "from_tag",
	[ARGUMENT_COMMUNICATOR] = "communicator",
	[ARGUMENT_REQUEST] = "request",
	[ARGUMENT_REQUESTS] = "requests",
	[ARGUMENT_BACK] = "back",
	[ARGUMENT_STEP] = "step",
	[ARGUMENT_WHICH] = "which",
};

static json_t *argument_value(int64_t value)
{
	if (value == ARGUMENT_ANY)
		return json_string("any");
	if (value == ARGUMENT_NONE)
		return json_string("none");
	return value == ARGUMENT_UNKNOWN ? json_null() : json_integer(value);
}

/* Returns an item of a sequence, with its body if it is a loop. *bytes is moved behind it. */
static json_t *stream_item(const uint8_t **bytes)
{
	struct stream_part part;
	json_t *item = json_array(), *body;

	*bytes += stream_read(*bytes, &part);
	item = document_append(item, json_integer(part.count));
	if (!part.length)
		return document_append(item, argument_value(part.value));
	body = json_array();
	for (unsigned i = 0; i < part.length; i++)
		body = document_append(body, stream_item(bytes));
	return document_append(item, body);
}

static json_t *stream_list(const uint8_t *bytes, uint32_t length)
{
	const uint8_t *end = bytes + length;
	json_t *list = json_array();

	while (bytes < end)
		list = document_append(list, stream_item(&bytes));
	return list;
}

static json_t *argument_object(const struct argument_table *table,
		const struct argument_variant *variant)
{
	struct rank_set set = rank_lists_read(&table->ranks, variant->first_range);
	double numbers = variant->values - variant->marks;

	return json_pack("{s:i,s:o,s:f,s:o,s:f,s:o,s:o,s:o,s:o}", "ranks", (int)variant->ranks,
			"rank_ranges", ranges_list(&set), "values", variant->values, "exact_values",
			document_number(variant->exact), "marks", variant->marks, "least",
			document_number(variant->least), "most", document_number(variant->most),
			"mean", document_number(numbers > 0 ? variant->sum / numbers : NAN),
			"stream",
			variant->bytes ? stream_list(&table->byte[variant->first_byte],
							 variant->bytes) :
					 json_null());
}

/* Returns the arguments of the calls of a path: its variants of each of them. */
static json_t *path_arguments(const struct argument_table *table, uint32_t path)
{
	json_t *object = json_pack("{s:o}", "call",
			document_text(runtime_call_name(table->path[path].call)));

	if (call_arguments_opens(table->path[path].call))
		object = document_set(object, "opens_requests", json_true());
	for (uint32_t argument = 0; argument < ARGUMENTS; argument++) {
		json_t *list = NULL;

		for (uint32_t i = 0; i < table->variants; i++) {
			const struct argument_variant *variant = &table->variant[i];

			if (variant->path != path || variant->argument != argument)
				continue;
			if (!list)
				list = json_array();
			list = document_append(list, argument_object(table, variant));
		}
		if (list)
			object = document_set(object, argument_keys[argument], list);
	}
	return object;
}

static json_t *arguments_object(const struct argument_table *table)
{
	json_t *list = json_array();

	for (uint32_t path = 0; path < table->paths; path++)
		list = document_append(list, path_arguments(table, path));
	return json_pack("{s:i,s:o,s:i,s:f}", "version", 1, "paths", list, "left_out_ranks",
			(int)table->left_out, "left_out_values", table->left_out_values);
}

/* Returns the name and the place of a path, and where its arguments are. */
static json_t *path_object(const struct structure_facts *facts, struct places *places,
		uint32_t path)
{
	const struct route_end *end = &facts->structures->path[path];
	const struct argument_table *table = facts->arguments;
	json_t *object = places_of_call(places, end);
	uint32_t number = 0;

	if (!table || !call_arguments_of(end->call))
		return object;
	while (number < table->paths && routes_compare_ends(&table->path[number], end))
		number++;
	return document_set(object, "path",
			number < table->paths ? json_integer(number) : json_null());
}

/* ---- all structures ---- */

json_t *structure_json(const struct structure_facts *facts, struct places *places)
{
	const struct structures *structures = facts->structures;
	struct ordered order[STRUCTURES_MAX];
	json_t *place[STRUCTURES_PATHS_MAX], *list = json_array(), *object;
	struct showing showing = { .facts = facts, .structures = structures, .place = place };

	for (uint32_t i = 0; i < structures->paths; i++)
		place[i] = path_object(facts, places, i);
	for (uint32_t i = 0; i < structures->count; i++)
		order[i] = (struct ordered){ &structures->all[i], i };
	qsort(order, structures->count, sizeof(order[0]), by_ranks);
	for (uint32_t i = 0; i < structures->count; i++)
		list = document_append(list, structure_object(&showing, order[i].number));
	for (uint32_t i = 0; i < structures->paths; i++)
		json_decref(place[i]);
	object = json_pack("{s:o,s:i}", "structures", list, "left_out_ranks",
			(int)structures->left_out);
	return facts->arguments ?
			document_set(object, "arguments", arguments_object(facts->arguments)) :
			object;
}

/* Returns the computing time of all calls of a structure. */
static double burst_seconds(const struct structure_token *tokens, uint32_t count)
{
	double seconds = 0;

	for (uint32_t i = 0; i < count; i++)
		if (!tokens[i].depth)
			seconds += tokens[i].seconds[SLOT_BURST];
	return seconds;
}

struct structure_iterations structure_iterations(const struct structures *structures)
{
	const struct structure_iterations unknown = { .rounds = NAN };
	const struct structure *structure = structures ? &structures->all[0] : NULL;
	const struct structure_token *tokens, *loop;
	double all;

	if (!structures || structures->count != 1 || structures->left_out ||
			structure->iteration >= structure->tokens ||
			structure->unknown > UNKNOWN_FEW * structure->calls)
		return unknown;
	tokens = &structures->token[structure->first];
	loop = &tokens[structure->iteration];
	all = burst_seconds(tokens, structure->tokens);
	if (!(all > 0) || loop->count < structure->iterations_least * structure->ranks ||
			loop->count > structure->iterations_most * structure->ranks)
		return unknown;
	return (struct structure_iterations){
		.rounds = loop->count / structure->ranks,
		.outside = 1 - loop->seconds[SLOT_BURST] / all,
		.equal = structure->iterations_least == structure->iterations_most,
	};
}
