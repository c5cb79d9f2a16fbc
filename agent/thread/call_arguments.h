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
	ARGUMENT_REQUESTS, /* how many are started */
	ARGUMENTS
};

/* Marks in streams. */
#define ARGUMENT_UNKNOWN INT64_MAX
#define ARGUMENT_ANY     (INT64_MAX - 1) /* any source, or any tag */
#define ARGUMENT_NONE    (INT64_MAX - 2) /* MPI_PROC_NULL */

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

struct call_arguments {
	const struct mpi_arguments *mpi;
	bool noted; /* `value` is that of the call under way, or of the last one */
	int64_t value[ARGUMENTS];
	const void *made;  /* where the call under way puts what it makes; NULL: it makes nothing */
	bool made_fortran; /* its handle is one of Fortran */
	int child;         /* number of the communicator that it makes; 0: it makes a request */
	struct call_type type[1 << CALL_KNOWN_BITS];
	struct call_communicator communicator[1 << CALL_KNOWN_BITS];
	struct call_window window[1 << CALL_KNOWN_BITS];
	uint32_t requests; /* number of those that were made */
	struct call_request request[CALL_REQUESTS_MAX];
	uint16_t first[SITES_MAX]; /* of each site the number of its first stream, plus 1; 0: none yet */
	uint16_t kinds[SITES_MAX]; /* of each site with streams: call_arguments_of its call */
	uint64_t left_out;         /* calls of sites whose streams found no room */
	struct streams streams;
};

/* Returns which arguments a call has: a bit for each. The streams of a site are in the order of enum argument. */
unsigned call_arguments_of(unsigned call);

/* Notes the arguments of the call that starts. */
void call_arguments_note(struct call_arguments *arguments, struct preload_arguments *given,
		enum runtime_call call);

/* Adds the arguments that were noted to the streams of a site, whose call has returned. */
void call_arguments_add(struct call_arguments *arguments, const struct site_table *sites,
		uint32_t site);

/* Folds what is left to be folded. Call when the thread makes no more calls. */
void call_arguments_finish(struct call_arguments *arguments);

#endif
