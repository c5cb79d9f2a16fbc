/* SPDX-License-Identifier: BSD-3-Clause */
/* Goes through the calls of a rank one by one, by the structure of the calls in a stored report. */
#ifndef PHASEMUX_TOOLS_RESULTS_STRUCTURE_CALLS_H
#define PHASEMUX_TOOLS_RESULTS_STRUCTURE_CALLS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define STRUCTURE_MISSING "the report has no structure of calls (set PHASEMUX_TRACE=structure)"

/* Returns whether a rank is in the ranges of ranks of a structure, or of a variant of one. */
bool structure_in_ranges(const json_t *ranks, long rank);

/* Returns whether a structure is that of a rank. */
bool structure_has_rank(const json_t *structure, long rank);

enum structure_step {
	STRUCTURE_CALL,   /* a call */
	STRUCTURE_HIDDEN, /* calls whose order is not known */
	STRUCTURE_LOST,   /* the end: further calls are not known */
	STRUCTURE_END,    /* the end: there are no further calls */
};

struct structure_call {
	const json_t *token; /* in the report; of a call, or of calls whose order is not known */
	size_t number;       /* of the token in its structure, from 0, a loop before its body */
	double hidden;       /* of calls that are not known: about how many */
};

struct structure_calls;

/*
 * Goes to the first call of a rank. Returns NULL with one line in why if the report does not have the structure of the
 * rank. The report must live as long. The caller frees the calls with structure_calls_free.
 */
struct structure_calls *structure_calls_new(const json_t *report, long rank, char *why,
		size_t why_size);

/* Takes the next call, in the order in which the rank made its calls. After the end comes the end again. */
enum structure_step structure_calls_next(struct structure_calls *calls,
		struct structure_call *call);

/* Returns the structure of the rank, in the report. */
const json_t *structure_calls_structure(const struct structure_calls *calls);

/* Returns the mean of "burst_seconds" or "call_seconds" (key) of a token, 0 if it is not known. */
double structure_calls_mean(const json_t *token, const char *key);

void structure_calls_free(struct structure_calls *calls);

#endif
