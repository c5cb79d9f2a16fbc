/* SPDX-License-Identifier: BSD-3-Clause */
/* What a replay, or the check before it, has found: in words, and as JSON. */
#ifndef PHASEMUX_TOOLS_REPLAY_OUTCOME_H
#define PHASEMUX_TOOLS_REPLAY_OUTCOME_H

#include <jansson.h>
#include <stdio.h>

#include "tools/replay/matching.h"

struct outcome {
	const json_t *report;
	struct matching matching;
	long ranks;
	size_t seed;
	unsigned copies; /* mask of communicators of the program that are taken for copies of MPI_COMM_WORLD */
	double recorded; /* seconds */
	double replayed; /* seconds; NAN: it was only checked */
	double deprived; /* part of the replayed bursts in which a rank had no processor, at most */
};

/* Returns 1 - |t - t'| / t of the recorded time t and the replayed time t'. */
double outcome_accuracy(const struct outcome *outcome);

void outcome_text(const struct outcome *outcome, FILE *out);

/* Prints of how many calls it holds that they `done` ("were made again"), and what became of the others. */
void outcome_calls_text(const struct outcome *outcome, const char *done, FILE *out);

/* Returns the JSON, or NULL without memory. */
json_t *outcome_json(const struct outcome *outcome);

#endif
