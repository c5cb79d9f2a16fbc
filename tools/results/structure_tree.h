/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the structure of a program's calls as a tree, from a stored report. */
#ifndef PHASEMUX_TOOLS_RESULTS_STRUCTURE_TREE_H
#define PHASEMUX_TOOLS_RESULTS_STRUCTURE_TREE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Returns the tree of the structures of a report, a line for each call. rank: only the structure of this rank; -1:
 * all. The caller frees it. NULL with one line in why if the report has none.
 */
char *structure_tree(const json_t *report, long rank, char *why, size_t why_size);

/* Prints the place of a call of a structure: " in FUNCTION FILE:LINE". */
void structure_tree_place(FILE *out, const json_t *token);

#endif
