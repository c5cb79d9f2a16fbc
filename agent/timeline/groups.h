/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The timelines of all ranks in a size that does not depend on their number: at most 16 groups of ranks that spend their
 * time alike over the run. A group has the sums of its ranks. Ranks are alike if at most a tenth of their time lies in
 * another sixteenth of the run, or in another column. If there are more groups, the two that are most alike become one.
 */
#ifndef PHASEMUX_AGENT_TIMELINE_GROUPS_H
#define PHASEMUX_AGENT_TIMELINE_GROUPS_H

#include "agent/mpi/mpi_adapter.h"
#include "agent/timeline/placing.h"

#define TIMELINE_GROUPS_MAX 16

struct timeline_group {
	uint32_t ranks, lowest, highest; /* number of ranks, and two of them */
	float threads;                   /* of all of them, in the mean of the run */
	timeline_seconds seconds;
};

/* Plain data. Zeros are no rank. */
struct timeline_groups {
	double bin_seconds; /* width of a bin */
	uint32_t bins, count;
	struct timeline_group group[TIMELINE_GROUPS_MAX];
};

/* Adds a process to the groups. */
void timeline_groups_add(struct timeline_groups *groups, const struct timeline_of_process *process,
		const struct timeline_labels *labels);

/* Adds the ranks of `in` to `inout`, without a rank in common. Has the form of mpi_merge. */
void timeline_groups_merge(const void *in, void *inout);

/*
 * Merges the groups of all ranks in those of rank 0. scratch: written on every rank. All ranks call it together. Returns 0 or
 * -EIO.
 */
int timeline_groups_reduce(struct timeline_groups *groups, struct timeline_groups *scratch,
		const struct mpi_adapter *adapter);

#endif
