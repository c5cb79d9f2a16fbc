/* SPDX-License-Identifier: BSD-3-Clause */
/* What a recovery holds, for the files that fill it (recovery.c) and that make the report of it (recovery_report.c). */
#ifndef PHASEMUX_AGENT_REPORT_RECOVERY_STATE_H
#define PHASEMUX_AGENT_REPORT_RECOVERY_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/ranks/hosts.h"
#include "agent/ranks/programs.h"
#include "agent/ranks/rank_times.h"
#include "agent/ranks/use_list.h"
#include "agent/spool/profile.h"
#include "agent/spool/spool_image.h"
#include "agent/spool/totals.h"
#include "agent/structures/argument_table.h"
#include "agent/structures/structures.h"
#include "agent/timeline/list.h"
#include "cluster/prototypes.h"
#include "multiplex/estimate/sums.h"

struct recovery {
	unsigned count;
	/* of the lowest rank; most facts are the same on all ranks */
	struct spool_facts facts;
	bool owned;
	unsigned char *found; /* a bit per rank */
	struct totals totals;
	struct profile_total profile;
	struct sums *sums;
	struct prototype_table table; /* of the newest generation of all ranks */
	uint64_t burst_min_ns;
	double wall_seconds, compute_seconds_most;
	double off_seconds;       /* of the lowest rank */
	bool paused;              /* by the program, on the lowest rank */
	unsigned rounds, refused; /* threads that the spools had no room for */
	struct programs programs;
	struct hosts hosts;
	struct rank_times times; /* NAN: not known, as all are in a family or with many ranks */
	struct use_list uses;
	struct timeline_list timelines;
	struct structures *structures,
			*scratch; /* NULL: no process that was added has a structure */
	unsigned structured;      /* number of processes that have one */
	struct rank_iterations *
			iterations; /* of the process that is being added; NULL: none was measured */
	/* the arguments of their calls; NULL: no process has any */
	struct argument_table *arguments, *arguments_scratch;
	unsigned argued; /* number of processes that have any */
};

/* Returns whether the rank's process was added. */
static inline bool recovery_has(const struct recovery *recovery, int rank)
{
	return recovery->found[rank / 8] & 1u << rank % 8;
}

#endif
