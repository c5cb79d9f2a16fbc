/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a text: call by call, or token by token. */
#ifndef PHASEMUX_CLUSTER_LOOPS_EXPAND_H
#define PHASEMUX_CLUSTER_LOOPS_EXPAND_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"
#include "cluster/loops/counts.h"

/* A place in the calls of a text. Some 10 KiB. */
struct expand {
	const struct loops *loops;
	uint64_t done; /* calls before this place */
	uint64_t left; /* calls of `symbol` that come next */
	uint32_t symbol;
	uint32_t place; /* token of the top level */
	uint16_t cell;  /* next token; 0: the body ends */
	uint16_t depth;
	struct {
		uint16_t cell;   /* the loop */
		uint32_t rounds; /* that are left, with the present one */
	} level[LOOPS_DEPTH_MAX];
	struct counts_reader reader[LOOPS_CELLS];
};

/* Goes to the first call. The text must not change until it has been read. */
void expand_start(struct expand *expand, const struct loops *loops);

/*
 * Reads the next call, in the order in which calls were added. symbol: its path, or LOOPS_ANY in a
 * hole. Returns false at the end of the text, or where it ends to be exact (loops->exact).
 */
bool expand_next(struct expand *expand, uint32_t *symbol);

/* A token, as it is visited. It may be a loop, whose body is visited next, one level deeper. */
struct expand_token {
	const struct loops_token *token;
	unsigned depth; /* number of loops around it */
	uint64_t uses;  /* number of times that the loops around it came to it */
};

/*
 * Calls `visit` for each token, the loop before its body, and all in the order of the text. Stops
 * when it returns false. Call after loops_finish, because an incomplete round is not part of the
 * text before.
 */
void expand_tokens(const struct loops *loops, bool (*visit)(const struct expand_token *, void *),
		void *data);

#endif
