/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the files in which the ranks of a run have recorded a region (agent/region/region_format.h), also while they are
 * written. The files are untrusted. What is read has valid indexes, and the times of a rank do not go back. Chunks of the
 * end that were not written whole are left out.
 */
#ifndef PHASEMUX_TOOLS_REGION_REGION_READ_H
#define PHASEMUX_TOOLS_REGION_REGION_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/loader/modules.h"
#include "agent/region/region_format.h"
#include "agent/thread/site.h"

/* What a rank has recorded. */
struct region_rank {
	struct region_facts facts;
	struct region_end end; /* if `ended` */
	bool ended;
	struct module *module;
	unsigned modules;
	struct region_site *site; /* by number, SITES_MAX; number 0 if it is not known */
	uint32_t phase[PROTOTYPES_MAX];
	char event[REGION_EVENTS_MAX][REGION_EVENT_NAME];
	unsigned events;
	struct region_group group[REGION_GROUPS_MAX]; /* with valid events */
	unsigned groups;
	struct region_counts *
			counts; /* by rising number of their call, which need not be there; with a valid group */
	size_t reads;
	struct region_call *call;
	size_t calls;
};

/* The files of a folder. Zeros are none. */
struct region_run {
	struct region_rank **rank; /* by rising number */
	size_t ranks;
};

/* Reads a file from its bytes. Returns 0; -EINVAL with one line in why; -ENOMEM. The caller frees the rank also on failure. */
int region_read_bytes(struct region_rank *rank, const void *bytes, size_t length, char *why,
		size_t why_size);
/*
 * Returns the counters of the burst before a call, or NULL if they were not read. *next: 0 for the first call of the rank, and
 * kept for those that follow.
 */
const struct region_counts *region_counts_of(const struct region_rank *rank, size_t call,
		size_t *next);
void region_rank_fini(struct region_rank *rank);

/*
 * Reads all files of a folder. Returns 0, or 1 or 2, the exit code, with one line in why: 2 if a file is invalid, or of
 * another run than the others.
 */
int region_read(struct region_run *run, const char *folder, char *why, size_t why_size);
void region_run_fini(struct region_run *run);

/* Returns when a rank's clock had a time, in ns after the first call that any rank of its host has recorded. */
double region_ns(const struct region_run *run, const struct region_rank *rank, uint64_t ticks);

#endif
