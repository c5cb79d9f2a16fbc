/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the calls of a replay: which of them are made again, and what is done instead of the others. */
#ifndef PHASEMUX_TOOLS_REPLAY_MATCHING_COUNTS_H
#define PHASEMUX_TOOLS_REPLAY_MATCHING_COUNTS_H

#include "tools/replay/plan/cursor.h"

#define MATCHING_KINDS_MAX 64

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
	double calls;  /* recorded, without those in holes */
	double walked; /* of them, those that were gone through one by one */
	double carried;
	double hidden;     /* in holes */
	double lost;       /* ranks of which the last calls are not known */
	double means;      /* calls with a mean for a size that is not known */
	double copies;     /* calls that are carried out in a copy of MPI_COMM_WORLD */
	double no_request; /* calls that wait without an open request, or start one that was not made */
	size_t kinds;
	struct matching_kind kind[MATCHING_KINDS_MAX];
};

/*
 * Counts a call. has_request: the rank has open requests, or for MPI_Mrecv a message that MPI_Mprobe has taken, or for MPI_Start
 * a persistent request that was made, or the call makes one that is kept.
 */
void matching_count(struct matching *counts, const struct cursor_call *call, bool has_request);

/* Counts the calls since an earlier time as many times more. */
void matching_repeat(struct matching *counts, const struct matching *since, uint64_t times);

/* Returns whether calls of a kind wait for requests. */
bool matching_waits(enum call_kind kind);

#endif
