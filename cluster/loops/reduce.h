/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folds the end of the text. Each rule looks at the last tokens of the top level when it is known
 * that the last one will not grow any more. In this order:
 *
 * 1. Two loops with one body, side by side, become one loop.
 * 2. Tokens that equal the body of the loop before them become a round of it.
 * 3. Tokens that stand three times, or two times if they are many, become a loop. The last ones of
 *    their kind are tried first. A short pair is no loop, because pairs also arise at random, and
 *    then hide loops whose counts differ.
 * 4. Tokens that differ from the body of a loop before them only in counts become a round of it.
 *    The loop has at least three rounds. A loop in its body may be executed once or twice (its
 *    tokens then stand without a loop) or not at all.
 * 5. Tokens that repeat, and differ only in counts, become a loop. This waits until a number of
 *    tokens repeats, because a longer period may turn out to be exact. When the text is closed or
 *    is full, three repetitions are enough. Rounds before them that rule 4 would have found become
 *    part of the loop.
 *
 * Rules 2 and 3 are those of ScalaTrace's compression within a window. Here the window is the whole
 * top level, of at most LOOPS_CELLS tokens, and hashes of tokens are compared before tokens are.
 */
#ifndef PHASEMUX_CLUSTER_LOOPS_REDUCE_H
#define PHASEMUX_CLUSTER_LOOPS_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"

#define REDUCE_PAIR      16 /* tokens from which two copies are a loop: they hardly repeat at random */
#define REDUCE_ROUND_MAX 96 /* tokens of a round that is looked for before a loop */
#define REDUCE_PATIENCE  64 /* tokens that repeat with other counts, before they become a loop */

/*
 * Applies the first rule that fits. next: call path that follows the last token, or LOOPS_ANY if it
 * is not known. Returns whether the text has changed. Then the last token is a loop, which may
 * grow. Needs one free cell for rules 3 and 5, which do not apply without it.
 */
bool reduce_last(struct loops *loops, uint32_t next);

/* Adds two tokens of the same shape, and frees the second one. They have `uses` and `more` uses. */
void reduce_merge(struct loops *loops, unsigned a, uint64_t uses, unsigned b, uint64_t more);

/*
 * Returns whether the tokens of the top level from `begin` up to `end` are the end of a round of
 * the loop at `place`, as rule 4 knows rounds. child: the token of the loop's body at which that
 * part of the round begins.
 */
bool reduce_follows(const struct loops *loops, unsigned place, unsigned child, unsigned begin,
		unsigned end);

/*
 * Returns whether two tokens are equal in all but their times, or in all but their times and
 * counts.
 */
bool reduce_equal(const struct loops *loops, unsigned a, unsigned b);
bool reduce_alike(const struct loops *loops, unsigned a, unsigned b);

/* Sets the count of a token of the top level. */
static inline void reduce_set_count(struct loops_token *token, uint32_t count)
{
	token->count = token->least = token->most = count;
}

#endif
