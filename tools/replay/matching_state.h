/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of the check before a replay: of matching.c, and of what finds out whether it comes again (repetition.h). */
#ifndef PHASEMUX_TOOLS_REPLAY_MATCHING_STATE_H
#define PHASEMUX_TOOLS_REPLAY_MATCHING_STATE_H

#include <stdbool.h>

#include "tools/replay/matching_counts.h"
#include "tools/replay/plan/persistent.h"

/* A message, or what a receive takes. */
struct envelope {
	int64_t communicator, source, tag, bytes;
};

/* Equal messages in a row that have arrived, and which no receive has taken. */
struct message {
	struct envelope envelope;
	uint64_t times;
};

struct request {
	uint64_t number; /* in the order in which the rank opens them */
	uint64_t persistent; /* number of the persistent request that was started; 0: it is not persistent */
	bool is_receive, done;
	struct envelope envelope;
};

enum state {
	FRESH,   /* the next call is to be taken ... */
	HELD,    /* ... when all ranks are between two rounds of a loop ... */
	PASSED,  /* ... or now */
	STARTED, /* the call was taken, and waits */
	JOINED,  /* the call is a collective that waits for other ranks */
	ENDED,
};

struct rank {
	struct cursor *cursor;
	enum state state;
	struct cursor_call call;
	uint64_t number; /* of the call, from 1 */
	bool sent;       /* the call's own message */
	uint64_t round;  /* of the collective that it waits for */
	size_t messages, messages_room;
	struct message *message;
	size_t requests, requests_room;
	struct request *request;
	struct persistents persistents;
	uint64_t probed; /* messages that MPI_Mprobe has taken, and MPI_Mrecv has not */
};

/* The collective that the ranks of a communicator have come to. */
struct collective {
	long arrived, first; /* number of ranks, and the first one of them */
	uint64_t round;      /* collectives before this one */
	struct cursor_call call;
};

struct repetition;

struct check {
	const struct plan *plan;
	const struct sample *sample;
	struct matching *counts;
	unsigned copies; /* mask */
	int64_t blamed; /* slot of the communicator whose calls do not fit together; below 2: another one */
	struct rank *rank;
	struct collective collective[2 + CALLS_COPIES];
	char *why;
	size_t why_size;
	int code;
	struct repetition *repetition; /* NULL, or how the ranks were before */
};

#endif
