/* SPDX-License-Identifier: BSD-3-Clause */
/* One thing that a user asks `phasemux whatif`: its option, its words, and the change that it means. */
#ifndef PHASEMUX_AGENT_WHATIF_REQUEST_H
#define PHASEMUX_AGENT_WHATIF_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/whatif/change.h"
#include "agent/whatif/run_times.h"

#define REQUEST_WORDS_MAX  (CHANGE_NAME_MAX + 64)
#define REQUEST_FACTOR_MAX 1000.

enum request_kind {
	REQUEST_PHASE,         /* the time of a phase times a factor */
	REQUEST_BALANCE,       /* all ranks have the same work */
	REQUEST_BALANCE_PHASE, /* the ranks that execute a phase have the same work in it */
	REQUEST_COMPONENT,     /* the cycles of a component times a factor */
	REQUEST_SPEED,         /* a processor that is faster by a factor */
	REQUEST_COMMUNICATION, /* the time in calls that is not waiting for others, times a factor */
	REQUEST_CACHE,         /* a last cache that is larger by a factor, as it was simulated */
};

struct request {
	enum request_kind kind;
	double phase; /* its number in the report */
	double factor;
	char name[CHANGE_NAME_MAX]; /* of the component */
};

/* Reads "3=0.5", "3", "back end=0.5", "1.5" or "0.5", as the kind has it. Returns false if the text is invalid. */
bool request_read(struct request *request, enum request_kind kind, const char *text);

/* Returns what request_read() accepts, for a message. */
const char *request_allowed(enum request_kind kind);

/* Adds the request to a change. Returns false with one line in `why` if this run cannot answer it. */
bool request_apply(const struct request *request, const struct run_times *run,
		struct change *change, char *why, size_t why_size);

/* Writes the request in words ("phase 1 in half its time"), or as an option ("--phase 1=0.5"). */
void request_words(const struct request *request, const struct run_times *run,
		char words[REQUEST_WORDS_MAX]);
void request_option(const struct request *request, char option[REQUEST_WORDS_MAX]);

#endif
