/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of one thread's calls (PHASEMUX_TRACE=calls): for each site a stream for each argument
 * (cluster/streams/stream.h), apart from the text of the calls. The n-th value of a stream belongs to the n-th call
 * of the site in the text.
 *
 * Peers are relative: the rank of the peer minus that of this process, both in the communicator of the call. So
 * processes that do the same have equal streams. The thread itself calls these functions.
 */
#ifndef PHASEMUX_AGENT_THREAD_CALL_ARGUMENTS_H
#define PHASEMUX_AGENT_THREAD_CALL_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/boundary/preload.h"
#include "agent/mpi/mpi_arguments.h"
#include "agent/requests/requests.h"
#include "agent/thread/site.h"
#include "cluster/streams/stream.h"

enum argument {
	ARGUMENT_TO,
	ARGUMENT_FROM,
	ARGUMENT_ROOT, /* not relative, because it is the same in all ranks */
	ARGUMENT_BYTES,
	ARGUMENT_TAG,
	ARGUMENT_FROM_BYTES,
	ARGUMENT_FROM_TAG,
	ARGUMENT_COMMUNICATOR, /* its number (mpi_arguments.h) */
	ARGUMENT_REQUEST, /* number of the persistent request, or of the first one, as this process made them */
	ARGUMENT_REQUESTS, /* how many are started, or have ended in a call that waits for several */
	/* how many requests ago the one was opened for which the call waits, or which has ended; of several, the oldest one */
	ARGUMENT_BACK,
	ARGUMENT_STEP, /* from each of several to the next, in the order in which they were opened */
	ARGUMENT_WHICH, /* if that differs, which ones: bit i is that of the one opened i requests after the oldest one */
	ARGUMENTS
};

/* Marks in streams. */
#define ARGUMENT_UNKNOWN INT64_MAX
#define ARGUMENT_ANY     (INT64_MAX - 1) /* any source, or any tag */
#define ARGUMENT_NONE    (INT64_MAX - 2) /* MPI_PROC_NULL, or no request */

_Static_assert(ARGUMENT_NONE >= STREAM_MARK, "the marks are marks of streams");

/* Persistent requests that are known by their handles. */
#define CALL_REQUESTS_MAX 1024

struct call_request {
	long handle;
	uint32_t number; /* 0: there is none */
};

/*
 * What the adapter has told of handles that were used before. A handle of Fortran has another key than one of C.
 */
#define CALL_KNOWN_BITS 3

struct call_communicator {
	uint64_t key;
	uint64_t freed; /* that of the adapter when it told; what it told is so until that rises; 0: it told nothing */
	struct mpi_member member;
};

struct call_window {
	uint64_t key;
	uint64_t freed; /* as in struct call_communicator */
	int rank;
};

struct call_type {
	uint64_t key;
	int bytes; /* if named */
	bool known;
	bool named; /* defined by MPI itself, and never freed */
};

/* What is noted of a call only when it has returned. */
enum call_later {
	CALL_LATER_NOTHING,
	CALL_LATER_PERSISTENT, /* it makes a persistent request */
	CALL_LATER_CHILD,      /* it makes a communicator */
	CALL_LATER_OPENED,     /* it opens a request */
	CALL_LATER_ENDED,      /* some requests of a list have ended in it */
};

/* A list of requests of which some will have ended. */
struct call_list {
	const void *at;
	const int *done, *which; /* where the call puts how many, and which; done: NULL: one */
	int count;
	long handle[REQUESTS_MAX];
};

struct call_arguments {
	const struct mpi_arguments *mpi;
	bool follows; /* requests are followed from the call that opens them to the one that waits for them */
	bool noted; /* `value` is that of the call under way, or of the last one */
	int64_t value[ARGUMENTS];
	enum call_later later; /* of the call under way */
	const void *made;      /* where it puts what it makes or opens */
	bool made_fortran;     /* its handles are those of Fortran */
	int child;             /* number of the communicator that it makes */
	struct call_type type[1 << CALL_KNOWN_BITS];
	struct call_communicator communicator[1 << CALL_KNOWN_BITS];
	struct call_window window[1 << CALL_KNOWN_BITS];
	uint32_t requests; /* number of persistent requests that were made */
	struct call_request request[CALL_REQUESTS_MAX];
	uint16_t first[SITES_MAX]; /* of each site the number of its first stream, plus 1; 0: none yet */
	uint16_t kinds[SITES_MAX]; /* of each site with streams: call_arguments_of its call */
	uint64_t left_out;         /* calls of sites whose streams found no room */
	struct requests open;
	struct call_list list;
	struct streams streams;
};

/* Returns which arguments a call has: a bit for each. The streams of a site are in the order of enum argument. */
unsigned call_arguments_of(unsigned call);

/*
 * Returns whether a call opens a request, for which another one waits. A call with ARGUMENT_REQUESTS opens as many.
 */
bool call_arguments_opens(unsigned call);

/* Notes the arguments of the call that starts. */
void call_arguments_note(struct call_arguments *arguments, struct preload_arguments *given,
		enum runtime_call call);

/* Adds the arguments that were noted to the streams of a site, whose call has returned. */
void call_arguments_add(struct call_arguments *arguments, const struct site_table *sites,
		uint32_t site);

/* Notes that calls were not observed, so that it is not known which requests are open. */
static inline void call_arguments_lose(struct call_arguments *arguments)
{
	requests_forget(&arguments->open);
}

/* Folds what is left to be folded. Call when the thread makes no more calls. */
void call_arguments_finish(struct call_arguments *arguments);

#endif
