/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/results/structure_calls.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/text/report_line.h"

#define DEPTH_MAX 48 /* loops around a call; the agent has at most 24 */

/* A token of the text, and how far the rank has come in its counts. */
struct node {
	const json_t *token;
	size_t number;        /* in the text */
	bool is_hidden;       /* it is in place of calls of which only the number is known ... */
	double hidden;        /* ... which is this one, or its count; 0: its count */
	bool unknown;         /* the rank's number of repetitions is not in the report */
	uint64_t count;       /* repetitions in a row, if they are always as many */
	const json_t *counts; /* or runs of them; NULL: they are always as many */
	size_t run;           /* in counts, the next one */
	uint64_t left;        /* uses that the run before has left */
	struct node *body;    /* of a loop */
	size_t length;
};

/* A body whose calls are being taken. */
struct level {
	struct node *body;
	size_t length, next; /* number of tokens, and the next one */
	uint64_t rounds;     /* that are left after this one */
};

struct structure_calls {
	const json_t *structure;
	const json_t *variant; /* the counts of the rank; NULL: they are in the text */
	size_t tokens;         /* of the text that were read */
	double ranks;          /* that share the structure */
	double left;           /* calls that are exact */
	double hidden;         /* calls that were not taken */
	struct node text;
	struct node *repeated; /* the call that is being taken */
	uint64_t repeats;      /* how often it comes yet */
	unsigned depth;        /* number of levels in use */
	struct level level[DEPTH_MAX + 2];
};

/* ---- the text ---- */

static void free_body(struct node *body, size_t length)
{
	for (size_t i = 0; i < length; i++)
		free_body(body[i].body, body[i].length);
	free(body);
}

/* Reads how often a token is repeated. */
static void read_counts(struct structure_calls *calls, struct node *node)
{
	const json_t *repeats = json_object_get(node->token, "repeats");
	const json_t *counts = json_object_get(node->token, "counts");
	double least = json_number_value(json_array_get(repeats, 0)),
	       most = json_number_value(json_array_get(repeats, 1));

	node->count = (uint64_t)most;
	if (calls->variant) {
		counts = json_array_get(json_object_get(calls->variant, "counts"), node->number);
		node->unknown = !counts && least != most;
		if (json_is_integer(counts))
			node->count = (uint64_t)json_integer_value(counts);
	}
	node->counts = json_array_size(counts) ? counts : NULL;
}

static bool read_body(struct structure_calls *calls, const json_t *body, unsigned depth,
		struct node *node);

static bool read_token(struct structure_calls *calls, const json_t *token, unsigned depth,
		struct node *node)
{
	const json_t *body = json_object_get(token, "body");

	node->token = token;
	node->number = calls->tokens++;
	read_counts(calls, node);
	if (json_is_true(json_object_get(token, "unobserved"))) {
		node->is_hidden = true;
		if (!json_is_array(json_object_get(calls->variant, "counts")))
			node->hidden = report_get(token, "count") / calls->ranks;
		return true;
	}
	return !body || (depth < DEPTH_MAX && read_body(calls, body, depth + 1, node));
}

/* Reads the tokens of a body into those of a node. Returns false without memory; then it has a part of them. */
static bool read_body(struct structure_calls *calls, const json_t *body, unsigned depth,
		struct node *node)
{
	size_t i;
	const json_t *token;

	node->length = json_array_size(body);
	node->body = calloc(node->length + 1, sizeof(*node->body));
	if (!node->body)
		node->length = 0;
	json_array_foreach (body, i, token)
		if (!node->body || !read_token(calls, token, depth, &node->body[i]))
			return false;
	return true;
}

/* ---- the rank ---- */

bool structure_in_ranges(const json_t *ranks, long rank)
{
	const json_t *range;
	size_t i;

	json_array_foreach (json_object_get(ranks, "rank_ranges"), i, range) {
		double above = (double)rank - json_number_value(json_array_get(range, 0)),
		       step = json_number_value(json_array_get(range, 1));

		if (above >= 0 && above < step * json_number_value(json_array_get(range, 2)) &&
				fmod(above, step) == 0)
			return true;
	}
	return false;
}

bool structure_has_rank(const json_t *structure, long rank)
{
	return structure_in_ranges(structure, rank) ||
			report_get(structure, "first_rank") == (double)rank;
}

static const json_t *find_structure(const json_t *report, long rank, char *why, size_t why_size)
{
	const json_t *structure = json_object_get(report, "structure"), *one;
	size_t i;

	if (!json_is_object(structure)) {
		snprintf(why, why_size, STRUCTURE_MISSING);
		return NULL;
	}
	json_array_foreach (json_object_get(structure, "structures"), i, one)
		if (structure_has_rank(one, rank))
			return one;
	snprintf(why, why_size, "the structure of the calls of rank %ld is not known", rank);
	return NULL;
}

/* Finds the counts of a rank. Returns false if they are missing. */
static bool find_variant(struct structure_calls *calls, long rank)
{
	const json_t *list = json_object_get(calls->structure, "variants"), *one;
	size_t i;

	if (!json_is_array(list))
		return true;
	json_array_foreach (list, i, one)
		if (structure_in_ranges(one, rank)) {
			calls->variant = one;
			return true;
		}
	return false;
}

static bool start(struct structure_calls *calls)
{
	const json_t *of_rank = calls->variant ? calls->variant : calls->structure;
	double exact = report_get(of_rank, "expandable_calls");

	calls->left = isfinite(exact) ? exact : INFINITY;
	calls->ranks = report_get(calls->structure, "ranks");
	calls->hidden = report_get(of_rank, "calls") / report_get(of_rank, "ranks");
	if (!read_body(calls, json_object_get(calls->structure, "text"), 0, &calls->text))
		return false;
	calls->level[calls->depth++] = (struct level){ calls->text.body, calls->text.length, 0, 0 };
	return true;
}

struct structure_calls *structure_calls_new(const json_t *report, long rank, char *why,
		size_t why_size)
{
	const json_t *structure = find_structure(report, rank, why, why_size);
	struct structure_calls *calls = structure ? calloc(1, sizeof(*calls)) : NULL;

	if (!structure)
		return NULL;
	if (calls) {
		calls->structure = structure;
		if (!find_variant(calls, rank)) {
			snprintf(why, why_size, "the counts of the loops of rank %ld are not known",
					rank);
			free(calls);
			return NULL;
		}
	}
	if (calls && start(calls))
		return calls;
	snprintf(why, why_size, "no memory");
	structure_calls_free(calls);
	return NULL;
}

void structure_calls_free(struct structure_calls *calls)
{
	if (calls)
		free_body(calls->text.body, calls->text.length);
	free(calls);
}

const json_t *structure_calls_structure(const struct structure_calls *calls)
{
	return calls->structure;
}

/* ---- its calls ---- */

/* Returns how often a token is repeated at the place that the rank has come to. */
static uint64_t next_count(struct node *node)
{
	size_t runs = json_array_size(node->counts);
	const json_t *run;

	if (!runs)
		return node->count;
	if (!node->left) {
		run = json_array_get(node->counts, node->run++ % runs);
		node->count = (uint64_t)json_integer_value(json_array_get(run, 0));
		node->left = (uint64_t)json_integer_value(json_array_get(run, 1));
	}
	node->left -= node->left > 0;
	return node->count;
}

/* Goes to the next token that has calls. Returns what it is. */
static enum structure_step next_token(struct structure_calls *calls, struct structure_call *call)
{
	while (calls->depth) {
		struct level *level = &calls->level[calls->depth - 1];
		struct node *node;
		uint64_t count;

		if (level->next == level->length) {
			level->next = 0;
			/* the tokens of an empty body make no calls */
			if (level->rounds && level->length)
				level->rounds--;
			else
				calls->depth--;
			continue;
		}
		node = &level->body[level->next++];
		if (node->unknown)
			return STRUCTURE_LOST;
		count = next_count(node);
		if (!count)
			continue;
		if (node->is_hidden) {
			double hidden = node->hidden > 0 ? node->hidden : (double)count;

			*call = (struct structure_call){ node->token, node->number, hidden };
			calls->hidden -= hidden;
			return STRUCTURE_HIDDEN;
		}
		if (!node->body) {
			calls->repeated = node;
			calls->repeats = count;
			return STRUCTURE_CALL;
		}
		calls->level[calls->depth++] =
				(struct level){ node->body, node->length, 0, count - 1 };
	}
	return STRUCTURE_END;
}

double structure_calls_mean(const json_t *token, const char *key)
{
	double mean = report_get_in(token, key, "mean");

	return isfinite(mean) && mean > 0 ? mean : 0;
}

enum structure_step structure_calls_next(struct structure_calls *calls, struct structure_call *call)
{
	enum structure_step step = calls->repeats ? STRUCTURE_CALL : next_token(calls, call);

	if (step == STRUCTURE_CALL && calls->left < 1)
		step = STRUCTURE_LOST;
	if (step == STRUCTURE_CALL) {
		calls->repeats--;
		calls->left--;
		calls->hidden--;
		*call = (struct structure_call){ calls->repeated->token, calls->repeated->number,
			0 };
	} else if (step == STRUCTURE_LOST) {
		*call = (struct structure_call){ .hidden = calls->hidden };
		calls->repeats = 0;
		calls->depth = 0;
	}
	return step;
}
