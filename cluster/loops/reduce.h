/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Folds the end of the text. Each rule looks at the last tokens of the top level when it is known
 * that the last one will not grow any more. In this order:
 *
 * 1. Two loops with one body, side by side, become one loop. The body of one may also be several
 *    rounds of the other.
 * 2. Tokens that equal the body of the loop before them become a round of it.
 * 3. Tokens that continue the last run or loop of the body before them become part of its last
 *    round, if the next call starts a round: the last round had a larger count.
 * 4. Tokens that stand three times, or two times if they are many, become a loop. The last ones of
 *    their kind are tried first. A short pair is no loop, because pairs also arise at random, and
 *    then hide loops whose counts differ.
 * 5. Tokens that differ from the body of a loop before them only in counts become a round of it.
 *    The loop has at least three rounds. A loop in its body may be executed once or twice (its
 *    tokens then stand without a loop) or not at all.
 * 6. Tokens that repeat often, and differ only in counts, become a loop. This waits until a number
 *    of tokens repeats, because a longer period may turn out to be exact.
 * 7. Three rounds, as rule 5 knows them, become a loop. This is tried only when all tokens are
 *    compared again (room.h), and then the body is the one whose rounds cover most of the text.
 *
 * Rounds that precede those by which rules 6 and 7 found the loop become part of it.
 *
 * Rules 2 and 4 are those of ScalaTrace's compression within a window. Here the window is the whole
 * top level, of at most LOOPS_CELLS tokens, and hashes of tokens are compared before tokens are.
 */
#ifndef PHASEMUX_CLUSTER_LOOPS_REDUCE_H
#define PHASEMUX_CLUSTER_LOOPS_REDUCE_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"

#define REDUCE_PAIR      48 /* tokens from which two copies are a loop: chance is unlikely */
#define REDUCE_ROUND_MAX 96 /* tokens of a round that is looked for before a loop */
#define REDUCE_COVERED   24 /* tokens that rule 7 makes a loop, before the text is closed */
#define REDUCE_PATIENCE  64 /* tokens that repeat with other counts, before they become a loop */

/*
 * Applies the first rule that fits. next: call path that follows the last token, or LOOPS_ANY if it
 * is not known. Returns whether the text has changed. Then the last token is a loop, which may
 * grow. Needs one free cell for rules 4, 6 and 7, which do not apply without it.
 */
bool reduce_last(struct loops *loops, uint32_t next);

/*
 * Returns whether the tokens of the top level from `begin` up to `end` are the end of a round, as
 * rule 5 knows rounds. first: the first token of the body. child: the one at which that part of the
 * round begins.
 */
bool reduce_follows(const struct loops *loops, unsigned first, unsigned child, unsigned begin,
		unsigned end);

#endif
