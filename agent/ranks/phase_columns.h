/* SPDX-License-Identifier: BSD-3-Clause */
/* Which phases have a column in the timeline (agent/timeline/placing.h). */
#ifndef PHASEMUX_AGENT_RANKS_PHASE_COLUMNS_H
#define PHASEMUX_AGENT_RANKS_PHASE_COLUMNS_H

#include "agent/ranks/phase_ranks.h"
#include "agent/timeline/placing.h"

/* Gives a column to each of the phases with most time. use: of all ranks, by prototype. */
void phase_columns_fill(struct timeline_labels *columns, const struct phase_labels *labels,
		const struct rank_use *use);

#endif
