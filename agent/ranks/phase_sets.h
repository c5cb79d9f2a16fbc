/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Phases of one place that different ranks execute. If a rank has more work than others in the same code, its bursts may be
 * so much longer that they are a phase of their own. Then each of the two phases is balanced, and only both together show
 * that the ranks have unequal work.
 */
#ifndef PHASEMUX_AGENT_RANKS_PHASE_SETS_H
#define PHASEMUX_AGENT_RANKS_PHASE_SETS_H

#include "agent/ranks/phase_ranks.h"
#include "agent/spool/routes.h"

/* Zeros have no set. */
struct phase_sets {
	uint32_t count;
	uint32_t set[PROTOTYPES_MAX]; /* of each phase, [0] is phase 1: the number of its set from 1; 0: none */
	struct phase_ranks ranks; /* of the sets, as if each was a phase */
};

/*
 * Finds the sets: phases that not all of `all` ranks execute, and whose longest routes are between the same calls. The
 * ranks of the sets stay as they are. labels: the phases of `ranks` and of the routes.
 */
void phase_sets_find(struct phase_sets *sets, const struct phase_labels *labels,
		const struct phase_ranks *ranks, uint32_t all, const struct routes *routes);

/* Fills `of_sets` with the set of each prototype, in the place of its phase. */
void phase_sets_label(const struct phase_sets *sets, const struct phase_labels *labels,
		struct phase_labels *of_sets);

/*
 * Returns how a set is distributed over the ranks. phase: one of it. Returns NULL if the phase is in no set, or if one phase
 * of the set is executed by all ranks of the set.
 */
const struct phase_rank *phase_sets_of(const struct phase_sets *sets,
		const struct phase_ranks *ranks, uint32_t phase);

#endif
