/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves what a killed run left on this node to the folder of its report, so that the nodes of a job make one
 * report. Each node adds its ranks, and makes the report again from all ranks that are there. Everything is
 * done as the user of the run. A lock allows one node at a time.
 */
#ifndef PHASEMUX_TOOLS_RECOVER_MERGE_H
#define PHASEMUX_TOOLS_RECOVER_MERGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct merge;

/* Returns a merge of no ranks, or NULL if there is no memory. */
struct merge *merge_new(void);

/*
 * Moves the files of the ranks from `folder` to a folder of their run in that of its results. They stay there until those
 * of all ranks have come. All folders that are added must be of one run. Returns 0, or -errno with one line in why.
 */
int merge_add(struct merge *merge, const char *folder, char *why, size_t why_size);

/* Returns the folder with the files of all ranks that have come. */
const char *merge_folder(const struct merge *merge);

/*
 * Writes the report, and replaces an earlier one of this run. ranks: number of ranks in it. When the last rank
 * is in it, or if the run had only one node, the ranks' files are removed. Returns 0 or -errno with a line in
 * why.
 */
int merge_write(struct merge *merge, const json_t *report, unsigned ranks, char *why,
		size_t why_size);

/* Releases the lock, and frees merge. */
void merge_free(struct merge *merge);

#endif
