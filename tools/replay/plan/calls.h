/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that a replay carries out. It is part of the command, and of the program that replays. */
#ifndef PHASEMUX_TOOLS_REPLAY_PLAN_CALLS_H
#define PHASEMUX_TOOLS_REPLAY_PLAN_CALLS_H

#include <stdint.h>

/* Open requests of a rank. If there are more, those that have completed are forgotten. */
#define CALLS_OPEN_MAX 1024

/* Persistent requests of a rank that are made. */
#define CALLS_PERSISTENT_MAX 4096

/* Copies of MPI_COMM_WORLD that take the place of the communicators of the program in turn. A mask has a bit for each. */
#define CALLS_COPIES     16
#define CALLS_ALL_COPIES ((1u << CALLS_COPIES) - 1)

enum call_kind {
	CALL_OTHER, /* is not carried out: only its time is spent */
	CALL_INIT,
	CALL_FINALIZE,
	CALL_SEND,
	CALL_SSEND,
	CALL_ISEND,
	CALL_ISSEND,
	CALL_RECV,
	CALL_IRECV,
	CALL_PROBE,
	CALL_MPROBE,
	CALL_MRECV,
	CALL_SENDRECV,
	CALL_SENDRECV_REPLACE,
	CALL_SEND_INIT,
	CALL_SSEND_INIT,
	CALL_RECV_INIT,
	CALL_START,
	CALL_STARTALL,
	CALL_WAIT,
	CALL_WAITANY,
	CALL_WAITSOME,
	CALL_WAITALL,
	CALL_COLLECTIVES, /* those from here on are collectives */
	CALL_BARRIER = CALL_COLLECTIVES,
	CALL_BCAST,
	CALL_GATHER,
	CALL_GATHERV,
	CALL_SCATTER,
	CALL_SCATTERV,
	CALL_ALLGATHER,
	CALL_ALLGATHERV,
	CALL_ALLTOALL,
	CALL_ALLTOALLV,
	CALL_REDUCE,
	CALL_ALLREDUCE,
	CALL_REDUCE_SCATTER,
	CALL_REDUCE_SCATTER_BLOCK,
	CALL_SCAN,
	CALL_EXSCAN,
};

/* The arguments of a call, in the order of a plan. */
enum call_argument {
	ARGUMENT_TO,
	ARGUMENT_FROM,
	ARGUMENT_ROOT,
	ARGUMENT_BYTES,
	ARGUMENT_TAG,
	ARGUMENT_FROM_BYTES,
	ARGUMENT_FROM_TAG,
	ARGUMENT_COMMUNICATOR,
	ARGUMENT_REQUEST,
	ARGUMENT_REQUESTS,
	ARGUMENT_BACK,
	ARGUMENT_STEP,
	ARGUMENT_WHICH,
	ARGUMENTS,
};

/* Returns the kind of a call by its name: "MPI_Send". */
enum call_kind calls_kind(const char *name);

/* Returns the name under which a kind of call is carried out. It may be another one than the recorded name. */
const char *calls_name(enum call_kind kind);

/* Returns which copy takes the place of a communicator, which is 2 or more. */
static inline unsigned calls_copy(int64_t communicator)
{
	return (unsigned)((communicator - 2) % CALLS_COPIES);
}

/* Returns whether calls of a kind need an argument. */
int calls_need(enum call_kind kind, enum call_argument argument);

/* Returns whether calls of a kind make persistent requests, or start them. */
static inline int calls_make(enum call_kind kind)
{
	return kind >= CALL_SEND_INIT && kind <= CALL_RECV_INIT;
}

static inline int calls_start(enum call_kind kind)
{
	return kind == CALL_START || kind == CALL_STARTALL;
}

#endif
