/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through the calls of a rank one by one, with their arguments, by a plan. Its memory does not grow with the calls. */
#ifndef PHASEMUX_TOOLS_REPLAY_CURSOR_H
#define PHASEMUX_TOOLS_REPLAY_CURSOR_H

#include "tools/replay/plan.h"

/* Why a call is not carried out. */
enum cursor_reason {
	CURSOR_CARRIED,     /* it is */
	CURSOR_UNSUPPORTED, /* calls of its kind are not supported */
	CURSOR_UNKNOWN,     /* an argument is not known */
	CURSOR_COPY, /* it is of a communicator that the program made, and these are left out */
	CURSOR_REASONS,
};

enum cursor_step {
	CURSOR_CALL,
	CURSOR_HOLE, /* calls of which only number and time are known */
	CURSOR_LOST, /* the end: further calls are not known */
	CURSOR_END,  /* the end: there are no further calls */
};

/* Requests of a rank, numbered from 1 in the order in which it opens them. */
struct cursor_requests {
	uint64_t count, first;
	uint64_t step; /* from the number of each to that of the next; 0: it differs */
	uint64_t bits; /* if it differs, bit i is that of number `first` + i */
};

struct cursor_call {
	const struct plan_token *token;
	enum cursor_reason reason;
	int64_t value[ARGUMENTS]; /* peers are ranks; PLAN_UNKNOWN: the call does not have this argument */
	bool is_outside; /* a peer is no rank of MPI_COMM_WORLD, as if the communicator was a copy of it */
	bool is_mean;                  /* the size is not known, and is the mean instead */
	double hidden;                 /* of a hole: number of calls */
	struct cursor_requests opened; /* that the call opens, whether it is carried out or not */
	struct cursor_requests ended;  /* for which it waits, if `names_ended` */
	bool names_ended;
};

struct cursor;

/*
 * Goes to the first call of a rank. copies: mask of the communicators of the program that are taken for copies of
 * MPI_COMM_WORLD; calls in the others are not carried out. Returns NULL with one line in `why` if the plan does not have the
 * rank's calls. The plan must live as long. The caller frees the cursor with cursor_free.
 */
struct cursor *cursor_new(const struct plan *plan, long rank, unsigned copies, char *why,
		size_t why_size);

/* Takes the next call. After the end comes the end again. */
enum cursor_step cursor_next(struct cursor *cursor, struct cursor_call *call);

void cursor_free(struct cursor *cursor);

/* Returns the number of the last one of some requests, which there are. */
static inline uint64_t cursor_last(const struct cursor_requests *requests)
{
	if (!requests->step)
		return requests->first + 63 - (uint64_t)__builtin_clzll(requests->bits);
	return requests->first + (requests->count - 1) * requests->step;
}

/* Returns whether a request is one of these. */
static inline bool cursor_has(const struct cursor_requests *requests, uint64_t number)
{
	uint64_t behind = number - requests->first;

	if (!requests->count || number < requests->first || number > cursor_last(requests))
		return false;
	return requests->step ? behind % requests->step == 0 : requests->bits >> behind & 1;
}

#endif
