/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The open requests of one thread, numbered from 1 in the order in which it opens them: by a nonblocking call, or by the start of
 * a persistent request. What a call waits for is a number of this order, or, as a distance, how many requests ago it was opened.
 *
 * A request is known by its handle and by the place where MPI has put the handle. The handle alone does not tell, because MPI
 * may give one handle to many requests that have ended at once (a small message, or one to MPI_PROC_NULL). The place alone does
 * not tell, because a program may copy handles. If neither tells, the request is not known.
 *
 * A request may end without notice (MPI_Test, MPI_Request_free). It stays open here until its handle or place is used again, or
 * its room is needed. The room is fixed: if it is used up, the oldest requests are forgotten. The struct is plain data, and
 * zeros are no requests.
 */
#ifndef PHASEMUX_AGENT_REQUESTS_REQUESTS_H
#define PHASEMUX_AGENT_REQUESTS_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#define REQUESTS_BITS 53 /* numbers of a set without a step, which a double has room for */
#define REQUESTS_MAX                                                                               \
	1024 /* requests that are known at a time, and handles in a list that are looked at */

/* What is known of a request. */
struct request {
	bool known;
	bool open;       /* false: it has ended, and no other one has its handle since */
	uint64_t number; /* if it is open */
};

struct request_handle {
	long handle;
	uint64_t number; /* of the last request with this handle; 0: the entry is free */
	bool open;
	bool shared; /* an earlier request with this handle may be open as well */
};

struct request_place {
	const void *place;
	long handle;
	uint64_t number; /* of the last request at this place; 0: it has ended, or the entry is free */
};

/* The requests in a list of handles, in any order. */
struct request_set {
	uint64_t count; /* of those that are open, or of which nothing is known */
	uint64_t oldest; /* number of the one that was opened first; 0: some are not known, or there are none */
	uint64_t step; /* numbers from each to the next, if it is always the same; 1 for a single one; 0: it is not */
	uint64_t bits; /* without a step, the set: bit i is that of number `oldest` + i; 0: it is not known */
};

struct requests {
	uint64_t opened;    /* number of requests that were ever opened */
	uint64_t forgotten; /* requests up to this one are not known any more */
	bool overflowed;    /* the handle of an open request has lost its entry */
	struct request_handle handle[REQUESTS_MAX];
	struct request_place place[REQUESTS_MAX];
	/* the list that is being gathered */
	uint64_t gathered, unknown, least,
			most; /* the number of requests that are open, and of those that are not known */
	uint64_t number[REQUESTS_MAX];
};

/* Numbers a request that was opened. place: where its handle is. */
void requests_open(struct requests *requests, long handle, const void *place);

/* Finds the request whose handle is at a place. If it is open, it has ended from now on. */
struct request requests_take(struct requests *requests, long handle, const void *place);

/* Forgets all requests, because calls were not observed that may have opened others with their handles. */
static inline void requests_forget(struct requests *requests)
{
	requests->forgotten = requests->opened;
}

/* Returns how many requests ago the one with this number was opened; 1: it is the last one. */
static inline uint64_t requests_distance(const struct requests *requests, uint64_t number)
{
	return requests->opened - number + 1;
}

/* Starts to gather the requests of a list. */
static inline void requests_gather(struct requests *requests)
{
	requests->gathered = requests->unknown = requests->most = 0;
	requests->least = UINT64_MAX;
}

/* Adds a request of which requests_take() has told, and which is open or not known. At most REQUESTS_MAX are added. */
void requests_add(struct requests *requests, struct request request);

/* Returns the requests that were gathered. */
struct request_set requests_gathered(const struct requests *requests);

#endif
