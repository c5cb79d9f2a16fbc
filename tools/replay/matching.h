/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks before a replay that it can end: goes through the calls of all ranks as MPI would, without any time. Each message
 * needs a receive, each receive a message, and collectives need the same order in all ranks. Messages arrive at once, as if
 * MPI had unlimited memory for them. Memory grows with the ranks and the plan. So does the time if the rounds of loops come again with
 * the same arguments (repetition.h); otherwise it grows with the number of calls.
 */
#ifndef PHASEMUX_TOOLS_REPLAY_MATCHING_H
#define PHASEMUX_TOOLS_REPLAY_MATCHING_H

#include "tools/replay/matching_counts.h"

#define MATCHING_WHY_MAX 700

/*
 * Checks a plan. *copies: at first a mask as of cursor_new. Communicators whose calls do not fit together are taken out of
 * it, so that their calls are not carried out. sample: NULL, or what is left out of long loops; the other calls are then gone
 * through one by one, also if rounds come again. Returns 0; 2 with the first mismatch in `why`; 1 with one line in `why` if
 * there is no memory.
 */
int matching_check(struct matching *matching, const struct plan *plan, const struct sample *sample,
		unsigned *copies, char *why, size_t why_size);

#endif
