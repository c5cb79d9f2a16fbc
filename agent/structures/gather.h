/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One text for processes that do the same, but of which other calls were not observed. Calls that were not observed cut
 * the text of a process at places of its own. Its parts, which are the tokens of the top level, are the same again and
 * again, in any order. So the common text is one loop with each of the parts that a process has. A round of it is a
 * stretch of parts in the order of the loop, and parts that are not in the round are repeated 0 times. These counts are
 * data of each process (variants.h), so that each of them still has its calls in their order.
 */
#ifndef PHASEMUX_AGENT_STRUCTURES_GATHER_H
#define PHASEMUX_AGENT_STRUCTURES_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/structures/table.h"
#include "agent/structures/variants.h"

#define GATHER_TOKENS_MAX LOOPS_CELLS /* of the common text */
#define GATHER_RUNS_MAX   4096        /* of the counts of one process */

/* One of the two texts. Its tokens are copies, with the numbers of paths in the common table. */
struct gather_source {
	uint32_t tokens, parts;
	bool gathered; /* it is a loop of parts already */
	double ranks;
	struct structure_token token[GATHER_TOKENS_MAX];
	struct {
		uint32_t begin, end; /* its tokens */
		uint32_t to;         /* first token of the part in the common text */
	} part[GATHER_TOKENS_MAX];
};

/* The counts of a token of the common text, while they are collected. */
struct gather_list {
	uint32_t first, last; /* numbers of runs, plus 1; 0: none */
	uint64_t uses;
};

/* A part of a text that is gathered already, and its counts that were not taken. */
struct gather_taking {
	struct variants_counts counts;
	struct counts_run run;
	uint64_t total;
};

/* It is large, so that little of the calling thread's stack is needed. */
struct gather {
	struct gather_source source[2];
	uint32_t tokens;
	struct structure_token token[GATHER_TOKENS_MAX];
	struct gather_list list[GATHER_TOKENS_MAX];
	uint32_t runs;
	struct {
		struct counts_run run;
		uint32_t next;
	} run[GATHER_RUNS_MAX];
	/* of the variant that is gathered: the counts of each token of its source, and those of its parts */
	const uint8_t *at[GATHER_TOKENS_MAX + 1];
	struct gather_taking taking[GATHER_TOKENS_MAX];
};

/* Adds the times and numbers of a token to those of another one. */
void gather_token(const struct structure_token *from, struct structure_token *into);

/* Returns whether both sources make the same calls. */
bool gather_is_alike(const struct gather *gather);

/* Makes the common text of both sources. Returns false if it is too long. */
bool gather_texts(struct gather *gather);

/*
 * Makes the counts of a variant of a source, which has `ranks` processes, those of the common text. Returns the number of
 * bytes written, or 0 if they need more than `size`.
 */
uint32_t gather_counts(struct gather *gather, unsigned source, uint32_t ranks,
		const uint8_t *counts, uint8_t *bytes, uint32_t size);

/* Calculates the times of the loop of parts, after the counts of all variants. */
void gather_finish(struct gather *gather);

/* Returns the token of the common text that a token of a source became. */
uint32_t gather_place(const struct gather *gather, unsigned source, uint32_t token);

#endif
