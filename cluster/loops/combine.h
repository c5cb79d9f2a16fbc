/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares tokens of a text, and adds tokens that are copies of each other.
 *
 * Two tokens are equal if nothing but their times differs, and alike if their counts differ as
 * well. Both are given by their cells. The order of two tokens that are added is that of time.
 */
#ifndef PHASEMUX_CLUSTER_LOOPS_COMBINE_H
#define PHASEMUX_CLUSTER_LOOPS_COMBINE_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"

bool combine_is_equal(const struct loops *loops, unsigned a, unsigned b);
bool combine_is_alike(const struct loops *loops, unsigned a, unsigned b);

/* Returns whether the bodies that begin with tokens a and b are equal. */
bool combine_equal_bodies(const struct loops *loops, unsigned a, unsigned b);

/*
 * Returns how many rounds of the body that begins with `outer` the body that begins with `inner`
 * is, or 0 if it is none. Loops of `outer` may be missing in a round.
 */
unsigned combine_fits(const struct loops *loops, unsigned outer, unsigned inner);

/* Adds two alike tokens, and frees the second one. They have `uses` and `more` uses. */
void combine_tokens(struct loops *loops, unsigned a, uint64_t uses, unsigned b, uint64_t more);

/* Adds the tokens in the bodies of two alike loops. The second one loses its body. */
void combine_bodies(struct loops *loops, struct loops_token *a, struct loops_token *b);

/* Adds all rounds of the loop in `cell` to those of a loop whose body it fits, and frees it. */
void combine_loop(struct loops *loops, struct loops_token *loop, unsigned cell);

/*
 * Makes the `count` tokens of the top level from `place` on a round of the loop at `at`, whose body
 * is alike, and frees them.
 */
void combine_round(struct loops *loops, unsigned at, unsigned place, unsigned count);

/* Adds to a loop the times of a round: those of `count` tokens of the top level from `place` on. */
void combine_add_round(struct loops *loops, struct loops_token *loop, unsigned place,
		unsigned count);

/* Returns the number of calls in `count` tokens of the top level from `place` on. */
uint64_t combine_calls(const struct loops *loops, unsigned place, unsigned count);

/*
 * If counts were lost, then the text is exact only up to the last `copy` calls of the token at
 * `place`.
 */
void combine_note_loss(struct loops *loops, unsigned place, uint64_t copy);

/*
 * Ends the top level with the token at `place`, which has changed. The others behind it are merged.
 */
void combine_end(struct loops *loops, unsigned place);

/*
 * Makes `S, n x { T S }, T` of the top level `n + 1 x { S T }`, where S and T are one or more tokens. Their counts may be
 * others than in the loop if counts in the loop vary as well. Ranks that execute one loop with different counts may be
 * folded from different calls on, and would have texts of different shapes. Does so only if all counts certainly find
 * room. Returns whether the text has changed.
 */
bool combine_rotated(struct loops *loops);

/* Sets the count of a token of the top level. */
static inline void combine_set_count(struct loops_token *token, uint32_t count)
{
	token->count = token->least = token->most = count;
}

#endif
