/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks before a replay that it can end: goes through the calls of all ranks as MPI would, without any time. Each message
 * needs a receive, each receive a message, and collectives need the same order in all ranks. Messages arrive at once, as if
 * MPI had unlimited memory for them. Memory grows with the ranks and the plan, and the time with the number of calls.
 */
#ifndef PHASEMUX_TOOLS_REPLAY_MATCHING_H
#define PHASEMUX_TOOLS_REPLAY_MATCHING_H

#include "tools/replay/cursor.h"

#define MATCHING_KINDS_MAX 64
#define MATCHING_WHY_MAX   700

/* Calls of one name that are not carried out as they were made, and why. */
struct matching_kind {
	char name[PLAN_NAME_MAX];
	enum cursor_reason
			reason; /* CURSOR_CARRIED: they are, but under another name, or without data */
	bool without_data;
	double calls;
};

/* Numbers of calls of all ranks. */
struct matching {
	double calls; /* recorded, without those in holes */
	double carried;
	double hidden;     /* in holes */
	double lost;       /* ranks of which the last calls are not known */
	double means;      /* calls with a mean for a size that is not known */
	double copies;     /* calls that are carried out in a copy of MPI_COMM_WORLD */
	double no_request; /* calls that wait, without an open request */
	size_t kinds;
	struct matching_kind kind[MATCHING_KINDS_MAX];
};

/*
 * Checks a plan. *copies: at first a mask as of cursor_new. Communicators whose calls do not fit together are taken out of
 * it, so that their calls are not carried out. Returns 0; 2 with the first mismatch in `why`; 1 with one line in `why` if
 * there is no memory.
 */
int matching_check(struct matching *matching, const struct plan *plan, unsigned *copies, char *why,
		size_t why_size);

#endif
