/* SPDX-License-Identifier: BSD-3-Clause */
/* What is changed in a replay: by which factors bursts are multiplied, and between which ranks they are balanced. */
#ifndef PHASEMUX_TOOLS_REPLAY_PROGRAM_CHANGES_H
#define PHASEMUX_TOOLS_REPLAY_PROGRAM_CHANGES_H

#include <stdbool.h>

#include "tools/replay/plan/cursor.h"

#define CHANGES_VARIED 1e-6 /* seconds; shorter bursts have the mean length in all ranks */

/*
 * Takes words from the command line: PLACE=FACTOR multiplies the bursts in the phase at this place of the plan,
 * PLACE,RANK=FACTOR those of one rank, and PLACE@SET balances them. Place -1 has the bursts in no phase. The phases of one set, which is a number from 0 to that of the
 * phases, are balanced together. Returns false without memory, or if a word is none of these.
 */
bool changes_take(const struct plan *plan, long rank, int count, char **words);

/* Returns the mean seconds of the burst before a call in a rank, without changes. */
double changes_mean(const struct plan *plan, const struct plan_token *token, long rank);

/* Returns the factor of the bursts before a call that changes_take() and changes_balance() have set. */
double changes_factor(const struct plan_token *token);

/* Says whether the bursts before a call are balanced. They then have one length. */
bool changes_is_balanced(const struct plan_token *token);

/*
 * Adds up the seconds that a rank computes in each set, and returns them, or NULL without memory. The caller frees
 * them. *count: number of sets; 0: nothing is balanced, and NULL is returned. It goes through the calls of the rank, or those in the sample.
 */
double *changes_totals(const struct plan *plan, long rank, unsigned copies,
		const struct sample *sample, size_t *count);

/* Gives the rank the mean of the ranks that execute a set. own, means: the seconds of each set, 0 if there are none. */
void changes_balance(const double *own, const double *means);

void changes_end(void);

#endif
