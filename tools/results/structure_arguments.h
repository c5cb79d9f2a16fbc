/* SPDX-License-Identifier: BSD-3-Clause */
/* The arguments of the calls of a program, from the structure of its calls in a stored report. */
#ifndef PHASEMUX_TOOLS_RESULTS_STRUCTURE_ARGUMENTS_H
#define PHASEMUX_TOOLS_RESULTS_STRUCTURE_ARGUMENTS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

struct structure_arguments;

/* Returns the key of an argument, from 0 in the order of enum argument (agent/thread/call_arguments.h). */
const char *structure_arguments_key(unsigned argument);

/* Returns whether a report has the arguments of calls. */
bool structure_arguments_are_kept(const json_t *report);

/*
 * Goes to the first call of a rank, whose structure the report must have. Returns NULL without memory. The report must
 * live as long. The caller frees the arguments with structure_arguments_free.
 */
struct structure_arguments *structure_arguments_new(const json_t *report, long rank);

/*
 * Takes the arguments of a call, whose token is given, and prints those that are known: " to 3, 8192 bytes, tag 7". The
 * calls of the rank must come in the order of structure_calls_next.
 */
void structure_arguments_next(struct structure_arguments *arguments, const json_t *token,
		FILE *out);

void structure_arguments_free(struct structure_arguments *arguments);

/*
 * Prints what all calls of a token's path have in common: " to rank-1..rank+1, 8 KiB, tag 7". rank: only those of this
 * rank; -1: of all ranks.
 */
void structure_arguments_summary(const json_t *report, const json_t *token, long rank, FILE *out);

/* Returns how many sequences of values are not complete in the report. */
double structure_arguments_cut(const json_t *report);

#endif
