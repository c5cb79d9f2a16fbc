/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The persistent requests that a rank has made, by their numbers. The check before a replay and the replay itself keep the same
 * ones: those of the first CALLS_PERSISTENT_MAX calls that make one and are carried out. None is given up before the end, because
 * the trace does not have which ones the program freed.
 */
#ifndef PHASEMUX_TOOLS_REPLAY_PLAN_PERSISTENT_H
#define PHASEMUX_TOOLS_REPLAY_PLAN_PERSISTENT_H

#include "tools/replay/plan/cursor.h"

struct persistent {
	uint64_t number;
	struct cursor_call call; /* that has made it */
	void *made;              /* of the replay; NULL: there is none */
};

/* All 0: there are none. */
struct persistents {
	size_t count, room;
	struct persistent *request; /* in the order of their numbers */
	bool incomplete; /* some were made that are not among these, because their making is not known or not carried out */
};

enum persistents_added {
	PERSISTENTS_ADDED,
	PERSISTENTS_NOT_KEPT, /* the call makes none, or one that is not kept */
	PERSISTENTS_TWICE,    /* the request was made before */
	PERSISTENTS_NO_MEMORY,
};

/* Adds the request that a call makes, if it makes one that is carried out. */
enum persistents_added persistents_add(struct persistents *persistents,
		const struct cursor_call *call);

/* Returns a request, or NULL if it is not among them. It is valid until another one is added. */
struct persistent *persistents_find(const struct persistents *persistents, uint64_t number);

/* Frees the list, and not what the replay has made. */
void persistents_fini(struct persistents *persistents);

#endif
