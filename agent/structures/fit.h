/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Structures that differ only in loops that one of them executes only once or twice. Such loops are not folded,
 * so that their calls stand in the text without a loop: a worker that gets one piece of work has another shape than one
 * that gets three. A fit says where each token of the structure with the loops is in the one without them.
 */
#ifndef PHASEMUX_AGENT_STRUCTURES_FIT_H
#define PHASEMUX_AGENT_STRUCTURES_FIT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/structures/table.h"

#define FIT_COPIES_MAX 2

/* Where one token is. */
struct fit_place {
	uint32_t copies;                /* how often it stands there */
	uint32_t token[FIT_COPIES_MAX]; /* each of them; STRUCTURES_NONE: a loop that is not there */
	uint32_t rounds[FIT_COPIES_MAX]; /* of a loop that is not there: how often its body is, 1 or 2 */
	uint32_t inside[FIT_COPIES_MAX]; /* and the loop around it; STRUCTURES_NONE: none */
};

struct fit {
	uint32_t tokens;
	struct fit_place place[LOOPS_CELLS];
	/* while it is searched: the tokens that were noted, in their order */
	uint32_t notes, note[FIT_COPIES_MAX * LOOPS_CELLS];
};

/* A structure in a table. */
struct fit_structure {
	const struct structures *table;
	const struct structure *structure;
};

/* Makes a fit of two structures with one shape, which have `tokens` tokens each. */
void fit_same(struct fit *fit, uint32_t tokens);

/* Finds where the tokens of `loops` are in `flat`. Returns false if they are not all there, or others are. */
bool fit_find(struct fit *fit, const struct fit_structure *loops, const struct fit_structure *flat);

/*
 * Makes the tokens of `flat` those of `loops`, with the times and numbers that they have in `flat`. tokens: room for
 * fit->tokens.
 */
void fit_tokens(const struct fit *fit, const struct fit_structure *loops,
		const struct fit_structure *flat, struct structure_token *tokens);

/*
 * Makes the counts of a variant of `flat` (variants.h) those of `loops`. Returns the number of bytes written, or 0 if
 * they need more than `size`, or cannot be expressed.
 */
uint32_t fit_counts(const struct fit *fit, const struct fit_structure *flat, const uint8_t *counts,
		uint8_t *bytes, uint32_t size);

#endif
