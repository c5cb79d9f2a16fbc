/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/results/structure_expand.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "agent/text/report_line.h"
#include "tools/results/structure_tree.h"

#define DEPTH_MAX 48 /* loops around a call; the agent has at most 24 */

/* A token of the text, and how far it has been expanded. */
struct node {
	char *line;     /* of a call */
	double hidden;  /* calls that it is in place of, of one rank; 0: it is a call or a loop */
	bool unknown;   /* the rank's number of repetitions is not in the report */
	uint64_t count; /* repetitions in a row, if they are always as many */
	const json_t *counts; /* or runs of them; NULL: they are always as many */
	size_t run;           /* in counts, the next one */
	uint64_t left;        /* uses that the run before has left */
	struct node *body;    /* of a loop */
	size_t length;
};

/* The counts of the rank that is expanded, and how many ranks have them. */
struct variant {
	const json_t *object; /* in the report; NULL: they are in the text */
	size_t next;          /* number of the next token */
	double ranks;
};

struct expansion {
	FILE *out;
	double left;   /* calls that are exact */
	double hidden; /* calls that were not printed */
};

/* ---- the text ---- */

static void free_body(struct node *body, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		free(body[i].line);
		free_body(body[i].body, body[i].length);
	}
	free(body);
}

static char *line_of(const json_t *token)
{
	char *line = NULL;
	size_t size;
	FILE *out = open_memstream(&line, &size);

	if (!out)
		return NULL;
	if (*report_get_text(token, "call"))
		structure_tree_call(out, token);
	else
		fputs("unknown call", out);
	fputc('\n', out);
	fclose(out);
	return line;
}

static bool read_body(const json_t *body, struct variant *variant, unsigned depth,
		struct node *node);

/* Reads how often a token is repeated. */
static void read_counts(const json_t *token, struct variant *variant, struct node *node)
{
	const json_t *repeats = json_object_get(token, "repeats");
	const json_t *counts = json_object_get(token, "counts"), *list;
	double least = json_number_value(json_array_get(repeats, 0)),
	       most = json_number_value(json_array_get(repeats, 1));

	node->count = (uint64_t)most;
	if (variant->object) {
		list = json_object_get(variant->object, "counts");
		counts = json_array_get(list, variant->next++);
		node->unknown = !counts && least != most;
		if (json_is_integer(counts))
			node->count = (uint64_t)json_integer_value(counts);
	}
	node->counts = json_array_size(counts) ? counts : NULL;
}

static bool read_token(const json_t *token, struct variant *variant, unsigned depth,
		struct node *node)
{
	const json_t *body = json_object_get(token, "body");

	read_counts(token, variant, node);
	if (json_is_true(json_object_get(token, "unobserved"))) {
		bool known = json_is_array(json_object_get(variant->object, "counts"));

		node->hidden = known ? (double)node->count :
				       report_get(token, "count") / variant->ranks;
		return true;
	}
	if (body)
		return depth < DEPTH_MAX && read_body(body, variant, depth + 1, node);
	node->line = line_of(token);
	return node->line;
}

/* Reads the tokens of a body into those of a node. Returns false without memory; then it has a part of them. */
static bool read_body(const json_t *body, struct variant *variant, unsigned depth,
		struct node *node)
{
	size_t i;
	const json_t *token;

	node->length = json_array_size(body);
	node->body = calloc(node->length + 1, sizeof(*node->body));
	if (!node->body)
		node->length = 0;
	json_array_foreach (body, i, token)
		if (!node->body || !read_token(token, variant, depth, &node->body[i]))
			return false;
	return true;
}

/* ---- its calls ---- */

/* Returns how often a token is repeated at the place that the expansion has come to. */
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

/* Prints the calls of a body once. Returns false where they are not exact any more. */
static bool print_body(struct expansion *expansion, struct node *body, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		struct node *node = &body[i];

		if (node->hidden > 0) {
			fprintf(expansion->out, "# about %.0f calls, whose order is not known\n",
					node->hidden);
			expansion->hidden -= node->hidden;
			continue;
		}
		if (node->unknown)
			return false;
		for (uint64_t left = next_count(node); left; left--) {
			if (!node->line) {
				if (!print_body(expansion, node->body, node->length))
					return false;
				continue;
			}
			if (expansion->left < 1)
				return false;
			expansion->left--;
			expansion->hidden--;
			fputs(node->line, expansion->out);
		}
	}
	return true;
}

static const json_t *find_rank(const json_t *report, long rank, char *why, size_t why_size)
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
static bool find_variant(const json_t *structure, long rank, struct variant *variant)
{
	const json_t *list = json_object_get(structure, "variants"), *one;
	size_t i;

	if (!json_is_array(list))
		return true;
	json_array_foreach (list, i, one)
		if (structure_in_ranges(one, rank)) {
			variant->object = one;
			return true;
		}
	return false;
}

bool structure_expand(const json_t *report, long rank, FILE *out, char *why, size_t why_size)
{
	const json_t *structure = find_rank(report, rank, why, why_size), *of_rank;
	struct variant variant = { .object = NULL };
	struct expansion expansion = { .out = out };
	struct node text = { .line = NULL };
	double exact;
	bool good;

	if (!structure)
		return false;
	if (!find_variant(structure, rank, &variant)) {
		snprintf(why, why_size, "the counts of the loops of rank %ld are not known", rank);
		return false;
	}
	of_rank = variant.object ? variant.object : structure;
	/* calls that were not observed are as many as in the mean if only their number in all ranks is known */
	variant.ranks = report_get(structure, "ranks");
	exact = report_get(of_rank, "expandable_calls");
	expansion.left = isfinite(exact) ? exact : INFINITY;
	expansion.hidden = report_get(of_rank, "calls") / report_get(of_rank, "ranks");
	good = read_body(json_object_get(structure, "text"), &variant, 0, &text);
	if (!good)
		snprintf(why, why_size, "no memory");
	else if (!print_body(&expansion, text.body, text.length))
		fprintf(out, "# about %.0f more calls, whose order is not known exactly\n",
				expansion.hidden);
	else if (json_is_object(json_object_get(report, "recovered")))
		fputs("# the run did not end by itself: its last calls are missing\n", out);
	free_body(text.body, text.length);
	return good;
}
