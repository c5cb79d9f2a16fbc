/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through the calls of a rank one by one, with their arguments, by a plan. Its memory does not grow with the calls. */
#ifndef PHASEMUX_TOOLS_REPLAY_PLAN_CURSOR_H
#define PHASEMUX_TOOLS_REPLAY_PLAN_CURSOR_H

#include "tools/replay/plan/plan.h"
#include "tools/replay/plan/sample.h"

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
	bool is_mean;  /* the size is not known, and is the mean instead */
	double hidden; /* of a hole: number of calls */
	double weight; /* number of calls for which this one stands, with what is before it */
	struct cursor_requests opened; /* that the call opens, whether it is carried out or not */
	struct cursor_requests ended;  /* for which it waits, if `names_ended` */
	bool names_ended;
	bool makes; /* it makes a persistent request, or may make some */
};

struct cursor;

/*
 * Goes to the first call of a rank. copies: mask of the communicators of the program that are taken for copies of
 * MPI_COMM_WORLD; calls in the others are not carried out. sample: NULL, or what is left out of long loops. Returns NULL with
 * one line in `why` if the plan does not have the rank's calls. The plan and the sample must live as long. The caller frees the
 * cursor with cursor_free.
 */
struct cursor *cursor_new(const struct plan *plan, long rank, unsigned copies,
		const struct sample *sample, char *why, size_t why_size);

/* Takes the next call. After the end comes the end again. */
enum cursor_step cursor_next(struct cursor *cursor, struct cursor_call *call);

/* Returns the number of the last request that was opened. Those of calls that were left out have none. */
uint64_t cursor_opened(const struct cursor *cursor);

/*
 * Returns how many rounds the deepest loop has between two rounds of which the rank is; 0: it is not between two rounds. A call
 * that comes several times in a row is a loop, too. cursor_depth() returns in how many loops this one is.
 */
uint64_t cursor_loop(const struct cursor *cursor);
unsigned cursor_depth(const struct cursor *cursor);

/* A place between two rounds, or the end, to which a rank has come. */
struct cursor_mark;

/* Returns memory for a mark of a cursor, or NULL. The caller frees it by free(). */
struct cursor_mark *cursor_mark_new(const struct cursor *cursor);

/* Notes where the rank is. */
void cursor_mark_set(const struct cursor *cursor, struct cursor_mark *mark);

/* Says whether the rank is between rounds of the loop of a mark, or has ended as there. */
bool cursor_is_in_loop(const struct cursor *cursor, const struct cursor_mark *mark);

/*
 * Returns how many times the calls since the mark certainly come again from here, with the same arguments, and only they;
 * CURSOR_ALWAYS: there are no calls since the mark; 0: they do not, or it is not known, as with holes or a sample. Its time
 * does not grow with the number of calls.
 */
#define CURSOR_ALWAYS UINT64_MAX
uint64_t cursor_repeats(struct cursor *cursor, const struct cursor_mark *mark);

/* Leaves out the calls that come again, at most as many times as cursor_repeats() has said. The mark is then to be set again. */
void cursor_leave_out(struct cursor *cursor, const struct cursor_mark *mark, uint64_t times);

void cursor_free(struct cursor *cursor);

/* Returns the number of the last one of some requests, which there are. */
static inline uint64_t cursor_last(const struct cursor_requests *requests)
{
	if (!requests->step)
		return requests->first + 63 - (uint64_t)__builtin_clzll(requests->bits);
	return requests->first + (requests->count - 1) * requests->step;
}

/* Returns the number of a persistent request of those that a call starts. at: its place among them, from 0. */
static inline uint64_t cursor_started(const struct cursor_call *call, int64_t at)
{
	return (uint64_t)(call->value[ARGUMENT_REQUEST] + at * call->value[ARGUMENT_STEP]);
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
