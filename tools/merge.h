/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a killed run left on this node, brought to the folder where its report belongs, so that the
 * nodes of a job make one report: each adds its ranks, and makes the report again of all that are
 * there. Everything is done as the user whose run it was; one node at a time, by a lock.
 */
#ifndef PHASEMUX_TOOLS_MERGE_H
#define PHASEMUX_TOOLS_MERGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

struct merge;

/*
 * Moves the files of the ranks from folder (of one run) to a folder of the run's own in that of its
 * results, where they stay until all have come. NULL with one line in why.
 */
struct merge *merge_begin(const char *folder, char *why, size_t why_size);

/* Where the files of all ranks that have come are. */
const char *merge_folder(const struct merge *merge);

/*
 * Writes the report, in the place of an earlier one of the same run. ranks: how many are in it; with
 * the last one, or where the run had one node only, their files go. 0 or -errno with a line in why.
 */
int merge_write(struct merge *merge, const json_t *report, unsigned ranks, char *why,
		size_t why_size);

void merge_end(struct merge *merge);

#endif
