/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the structure of a program's calls as a tree, from a stored report. */
#ifndef PHASEMUX_TOOLS_RESULTS_STRUCTURE_TREE_H
#define PHASEMUX_TOOLS_RESULTS_STRUCTURE_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#define STRUCTURE_MISSING "the report has no structure of calls (set PHASEMUX_TRACE=structure)"

/*
 * Returns the tree of the structures of a report, a line for each call. rank: only the structure of this rank; -1:
 * all. The caller frees it. NULL with one line in why if the report has none.
 */
char *structure_tree(const json_t *report, long rank, char *why, size_t why_size);

/* Prints the name and the place of a call of a structure. */
void structure_tree_call(FILE *out, const json_t *token);

/* Returns whether a rank is in the ranges of ranks of a structure, or of a variant of one. */
bool structure_in_ranges(const json_t *ranks, long rank);

/* Returns whether a structure is that of a rank. */
bool structure_has_rank(const json_t *structure, long rank);

#endif
