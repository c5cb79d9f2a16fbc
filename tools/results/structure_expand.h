/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the calls of a rank one by one, from the structure of the calls in a stored report. */
#ifndef PHASEMUX_TOOLS_RESULTS_STRUCTURE_EXPAND_H
#define PHASEMUX_TOOLS_RESULTS_STRUCTURE_EXPAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Prints the calls of a rank in the order in which they were made, a line for each. A line that begins with "#"
 * stands for calls whose order is not known. Returns false with one line in why if the report does not have the
 * structure of the rank.
 */
bool structure_expand(const json_t *report, long rank, FILE *out, char *why, size_t why_size);

#endif
