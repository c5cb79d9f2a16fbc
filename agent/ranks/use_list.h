/* SPDX-License-Identifier: BSD-3-Clause */
/* What each of several processes did, if one process adds them up: those of a family, or those that left their spools. */
#ifndef PHASEMUX_AGENT_RANKS_USE_LIST_H
#define PHASEMUX_AGENT_RANKS_USE_LIST_H

#include <stddef.h>

#include "agent/ranks/phase_sets.h"

/* Zeros are an empty list. */
struct use_list {
	size_t count, room;
	struct use_of_process {
		uint32_t rank, prototypes;
		struct phase_use *use;              /* of each of the prototypes */
		struct rank_iterations *iterations; /* NULL: none was measured */
	} * process;
};

/* Frees what the list owns. */
void use_list_fini(struct use_list *list);

/*
 * Adds a process, which did nothing in the prototypes from `prototypes` on. Its iterations are copied; without memory for
 * them it has none. Returns 0 or -ENOMEM.
 */
int use_list_add(struct use_list *list, uint32_t rank, const struct rank_use *use,
		unsigned prototypes);

/* Sets `ranks` to the phases of all processes of the list. */
void use_list_ranks(const struct use_list *list, const struct phase_labels *labels,
		struct phase_ranks *ranks);

/*
 * Sets `ranks` to the phases of all processes of the list, and `sets` to their sets. all: number of ranks of the job. routes:
 * of all processes.
 */
void use_list_sets(const struct use_list *list, const struct phase_labels *labels, uint32_t all,
		const struct routes *routes, struct phase_ranks *ranks, struct phase_sets *sets);

#endif
