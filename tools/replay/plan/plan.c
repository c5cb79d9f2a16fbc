/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/replay/plan/plan.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define READ_BYTES 65536 /* that are read from a file at a time */
#define WHICH_MOST ((INT64_C(1) << 53) - 1)

/* The words of a plan. After a fault, all words are empty and all numbers are 0. */
struct words {
	char *next, *end;
	bool fault;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\n';
}

static const char *next_word(struct words *words)
{
	char *start;

	while (words->next < words->end && is_space(*words->next))
		words->next++;
	start = words->next;
	while (words->next < words->end && !is_space(*words->next))
		words->next++;
	if (words->fault || start == words->next) {
		words->fault = true;
		return "";
	}
	/* a space, or the terminating 0 */
	if (words->next < words->end)
		*words->next++ = 0;
	return start;
}

static int64_t next_whole(struct words *words, int64_t least, int64_t most)
{
	const char *word = next_word(words);
	char *end;
	long long value;

	errno = 0;
	value = strtoll(word, &end, 10);
	if (errno || end == word || *end || value < least || value > most) {
		words->fault = true;
		return least > 0 ? least : 0;
	}
	return value;
}

static double next_real(struct words *words)
{
	const char *word = next_word(words);
	char *end;
	double value = strtod(word, &end);

	if (end == word || *end || !isfinite(value) || value < 0) {
		words->fault = true;
		return 0;
	}
	return value;
}

/* Reads how many things follow, and returns memory for them. Each has at least one character and a space. */
static void *next_array(struct words *words, size_t size, size_t *count)
{
	size_t most = (size_t)(words->end - words->next) / 2 + 1;
	void *array;

	*count = (size_t)next_whole(words, 0, (int64_t)most);
	array = words->fault ? NULL : calloc(*count + 1, size);
	if (!array) {
		words->fault = true;
		*count = 0;
	}
	return array;
}

static void expect(struct words *words, const char *word)
{
	if (strcmp(next_word(words), word) != 0)
		words->fault = true;
}

/* ---- arguments ---- */

static void read_ranks(struct words *words, struct plan_ranks *ranks)
{
	ranks->range = next_array(words, sizeof(*ranks->range), &ranks->count);
	for (size_t i = 0; i < ranks->count; i++) {
		ranks->range[i].first = next_whole(words, 0, PLAN_RANKS_MAX);
		ranks->range[i].step = next_whole(words, 1, PLAN_RANKS_MAX);
		ranks->range[i].count = next_whole(words, 0, PLAN_RANKS_MAX);
	}
}

/* most: a larger number is not known */
static int64_t next_value(struct words *words, int64_t most)
{
	const char *word = next_word(words);
	char *end;
	long long value;

	if (strcmp(word, "any") == 0)
		return PLAN_ANY;
	if (strcmp(word, "none") == 0)
		return PLAN_NONE;
	if (strcmp(word, "?") == 0)
		return PLAN_UNKNOWN;
	value = strtoll(word, &end, 10);
	if (end == word || *end)
		words->fault = true;
	return value >= -most && value <= most ? value : PLAN_UNKNOWN;
}

static void read_stream(struct words *words, struct plan_stream *stream, int64_t most,
		unsigned depth)
{
	stream->item = next_array(words, sizeof(*stream->item), &stream->count);
	for (size_t i = 0; i < stream->count && !words->fault; i++) {
		struct plan_item *item = &stream->item[i];

		item->times = (uint64_t)next_whole(words, 1, INT64_MAX);
		while (words->next < words->end && is_space(*words->next))
			words->next++;
		if (words->next == words->end || *words->next != '(') {
			item->value = next_value(words, most);
			stream->length = plan_add(stream->length, item->times);
			continue;
		}
		expect(words, "(");
		item->loop = depth < PLAN_DEPTH_MAX ? calloc(1, sizeof(*item->loop)) : NULL;
		if (item->loop)
			read_stream(words, item->loop, most, depth + 1);
		/* a loop without values would never end */
		if (!item->loop || !item->loop->count)
			words->fault = true;
		else
			stream->length = plan_add(stream->length,
					plan_multiply(item->times, item->loop->length));
	}
}

static void read_argument(struct words *words, struct plan_argument *argument, int64_t most)
{
	argument->values = next_array(words, sizeof(*argument->values), &argument->count);
	for (size_t i = 0; i < argument->count; i++) {
		struct plan_values *values = &argument->values[i];

		read_ranks(words, &values->ranks);
		values->number = (uint64_t)next_whole(words, 0, INT64_MAX);
		values->mean = next_value(words, most);
		read_stream(words, &values->stream, most, 0);
	}
}

static void read_paths(struct words *words, struct plan *plan)
{
	plan->path = next_array(words, sizeof(*plan->path), &plan->paths);
	for (size_t i = 0; i < plan->paths; i++) {
		plan->path[i].opens = next_whole(words, 0, 1);
		for (unsigned j = 0; j < ARGUMENTS; j++)
			/* no argument of MPI is larger than an int, and bits are those of a double */
			read_argument(words, &plan->path[i].argument[j],
					j == ARGUMENT_WHICH ? WHICH_MOST : INT_MAX);
	}
}

/* ---- loops ---- */

static void read_body(struct words *words, const struct plan *plan, struct plan_token *loop,
		size_t *tokens, unsigned depth);

static void read_call(struct words *words, const struct plan *plan, struct plan_token *token)
{
	snprintf(token->name, sizeof(token->name), "%s", next_word(words));
	token->call = calls_kind(token->name);
	token->path = next_whole(words, PLAN_PATH_UNKNOWN, (int64_t)plan->paths - 1);
	token->phase = next_whole(words, -1, (int64_t)plan->phases - 1);
	token->burst = next_real(words);
	token->least = next_real(words);
	token->most = next_real(words);
	token->seconds = next_real(words);
}

static void read_token(struct words *words, const struct plan *plan, struct plan_token *token,
		size_t *tokens, unsigned depth)
{
	const char *kind = next_word(words);

	token->path = PLAN_PATH_NONE;
	token->phase = -1;
	token->number = (*tokens)++;
	if (strcmp(kind, "call") == 0) {
		read_call(words, plan, token);
	} else if (strcmp(kind, "hole") == 0) {
		token->kind = PLAN_HOLE;
		token->burst = next_real(words);
		token->seconds = next_real(words);
	} else if (strcmp(kind, "loop") == 0 && depth < PLAN_DEPTH_MAX) {
		token->kind = PLAN_LOOP;
		read_body(words, plan, token, tokens, depth + 1);
	} else {
		words->fault = true;
	}
}

static void read_body(struct words *words, const struct plan *plan, struct plan_token *loop,
		size_t *tokens, unsigned depth)
{
	loop->body = next_array(words, sizeof(*loop->body), &loop->length);
	for (size_t i = 0; i < loop->length && !words->fault; i++)
		read_token(words, plan, &loop->body[i], tokens, depth);
}

static void read_variant(struct words *words, size_t tokens, struct plan_variant *variant)
{
	read_ranks(words, &variant->ranks);
	variant->exact_calls = next_whole(words, -1, INT64_MAX);
	variant->counts = calloc(tokens + 1, sizeof(*variant->counts));
	words->fault |= !variant->counts;
	for (size_t i = 0; i < tokens && !words->fault; i++) {
		struct plan_counts *counts = &variant->counts[i];

		counts->run = next_array(words, sizeof(*counts->run), &counts->runs);
		for (size_t j = 0; j < counts->runs; j++) {
			counts->run[j].count = (uint64_t)next_whole(words, 0, INT64_MAX);
			counts->run[j].uses = (uint64_t)next_whole(words, 1, INT64_MAX);
		}
	}
}

static void read_structures(struct words *words, struct plan *plan)
{
	plan->structure = next_array(words, sizeof(*plan->structure), &plan->structures);
	for (size_t i = 0; i < plan->structures && !words->fault; i++) {
		struct plan_structure *structure = &plan->structure[i];

		structure->text.kind = PLAN_LOOP;
		read_body(words, plan, &structure->text, &structure->tokens, 0);
		structure->variant = next_array(words, sizeof(*structure->variant),
				&structure->variants);
		for (size_t j = 0; j < structure->variants && !words->fault; j++)
			read_variant(words, structure->tokens, &structure->variant[j]);
	}
}

static void read_phases(struct words *words, struct plan *plan)
{
	plan->phase = next_array(words, sizeof(*plan->phase), &plan->phases);
	for (size_t i = 0; i < plan->phases && !words->fault; i++) {
		struct plan_phase *phase = &plan->phase[i];

		phase->variation = next_real(words);
		phase->processor = next_real(words);
		phase->factor = next_array(words, sizeof(*phase->factor), &phase->factors);
		for (size_t j = 0; j < phase->factors; j++)
			phase->factor[j] = next_real(words);
		if (phase->factors && phase->factors != (size_t)plan->ranks)
			words->fault = true;
	}
}

static void read_plan(struct words *words, struct plan *plan)
{
	expect(words, PLAN_HEAD);
	next_whole(words, PLAN_VERSION, PLAN_VERSION);
	expect(words, "ranks");
	plan->ranks = next_whole(words, 1, PLAN_RANKS_MAX);
	expect(words, "seconds");
	plan->seconds = next_real(words);
	expect(words, "call_most");
	plan->call_most = next_real(words);
	expect(words, "bytes_most");
	plan->bytes_most = next_whole(words, 0, INT_MAX);
	expect(words, "phases");
	read_phases(words, plan);
	expect(words, "paths");
	read_paths(words, plan);
	expect(words, "structures");
	read_structures(words, plan);
	expect(words, "end");
}

/* ---- files ---- */

/* Returns the text of a file, which the caller frees, or NULL with errno. */
static char *load(const char *file, size_t *size)
{
	FILE *in = fopen(file, "r");
	char *text = NULL;
	size_t room = 0, got;

	*size = 0;
	if (!in)
		return NULL;
	do {
		char *more = realloc(text, room + READ_BYTES);

		if (!more) {
			fclose(in);
			free(text);
			errno = ENOMEM;
			return NULL;
		}
		text = more;
		room += READ_BYTES;
		got = fread(text + *size, 1, room - *size - 1, in);
		*size += got;
	} while (got);
	fclose(in);
	text[*size] = 0;
	return text;
}

struct plan *plan_parse(char *text, size_t size)
{
	struct words words = { text, text + size, false };
	struct plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	read_plan(&words, plan);
	if (!words.fault)
		return plan;
	plan_free(plan);
	return NULL;
}

struct plan *plan_read(const char *file, char *why, size_t why_size)
{
	size_t size;
	char *text = load(file, &size);
	struct plan *plan = text ? plan_parse(text, size) : NULL;

	if (!text)
		snprintf(why, why_size, "%s: %s", file, strerror(errno));
	else if (!plan)
		snprintf(why, why_size, "%s: no plan of a replay, or of another version", file);
	free(text);
	return plan;
}

static void free_stream(struct plan_stream *stream)
{
	for (size_t i = 0; i < stream->count; i++)
		if (stream->item[i].loop) {
			free_stream(stream->item[i].loop);
			free(stream->item[i].loop);
		}
	free(stream->item);
}

static void free_path(struct plan_path *path)
{
	for (unsigned i = 0; i < ARGUMENTS; i++) {
		for (size_t j = 0; j < path->argument[i].count; j++) {
			free(path->argument[i].values[j].ranks.range);
			free_stream(&path->argument[i].values[j].stream);
		}
		free(path->argument[i].values);
	}
}

static void free_body(struct plan_token *loop)
{
	for (size_t i = 0; i < loop->length; i++)
		free_body(&loop->body[i]);
	free(loop->body);
}

static void free_structure(struct plan_structure *structure)
{
	for (size_t i = 0; i < structure->variants; i++) {
		struct plan_variant *variant = &structure->variant[i];

		for (size_t j = 0; variant->counts && j < structure->tokens; j++)
			free(variant->counts[j].run);
		free(variant->counts);
		free(variant->ranks.range);
	}
	free(structure->variant);
	free_body(&structure->text);
}

void plan_free(struct plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->phases; i++)
		free(plan->phase[i].factor);
	for (size_t i = 0; i < plan->paths; i++)
		free_path(&plan->path[i]);
	for (size_t i = 0; i < plan->structures; i++)
		free_structure(&plan->structure[i]);
	free(plan->phase);
	free(plan->path);
	free(plan->structure);
	free(plan);
}

bool plan_has_rank(const struct plan_ranks *ranks, long rank)
{
	for (size_t i = 0; i < ranks->count; i++) {
		const struct plan_range *range = &ranks->range[i];
		long above = rank - range->first;

		if (above >= 0 && above % range->step == 0 && above / range->step < range->count)
			return true;
	}
	return false;
}
