/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the work in each phase is distributed over the ranks of a job, in a size that does not depend on their number. What a
 * rank does in a phase is the sum over its threads.
 *
 * A rank executes a phase if it spends at least PHASE_RANKS_MIN of the time in it that the slowest rank spends. Otherwise
 * the few bursts of another program, or of a master, that happen to be like those of a phase would make it one of the
 * ranks between which the work is shared.
 */
#ifndef PHASEMUX_AGENT_RANKS_PHASE_RANKS_H
#define PHASEMUX_AGENT_RANKS_PHASE_RANKS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/mpi/mpi_adapter.h"
#include "agent/ranks/iteration_spread.h"
#include "agent/spool/totals.h"
#include "cluster/prototypes.h"
#include "multiplex/estimate/sums.h"

#define PHASE_RANKS_MIN 0.01

/* What one rank did in a prototype, or in a phase. All members are additive. */
struct phase_use {
	double seconds, bursts;
	/*
	 * The first two events, or 0 if there are none, and the number of bursts that they are of: of a prototype the sum of
	 * the weights of its read bursts; of a phase all bursts of prototypes of which some were read.
	 */
	double counted, cycles, instructions;
};

/* What one rank did: [0] is prototype 0 or phase 1. Zeros are nothing. */
struct rank_use {
	struct phase_use use[PROTOTYPES_MAX];
	/* of the rank, by prototype; NULL: none was measured, or this is by phase; not owned */
	const struct rank_iterations *iterations;
};

/* One phase of several ranks. Sums and numbers are of the ranks that execute it. */
struct phase_rank {
	uint32_t ranks;       /* number of ranks that execute it */
	uint32_t slowest;     /* lowest rank of those with most time */
	uint32_t counted;     /* number of ranks that executed it and have both events */
	double seconds, most; /* sum of their seconds, and the most seconds of one rank */
	double ipc, ipc_most; /* sum of the ratios of both events, and the largest ratio */
	double instructions, instructions_most; /* of all bursts */
	struct iteration_spread spread;         /* between the iterations of a rank */
};

/* Plain data. Zeros have no phase. */
struct phase_ranks {
	uint32_t phases;
	struct iteration_spread iterations;      /* of all ranks */
	struct phase_rank phase[PROTOTYPES_MAX]; /* [0] is phase 1 */
};

/* The phase of each prototype, from 1, or 0. */
struct phase_labels {
	uint32_t phases; /* the highest phase number */
	uint32_t phase[PROTOTYPES_MAX];
};

/* Returns whether the bursts of a prototype are short in the mean of all ranks, of which `sums` are. */
bool phase_labels_is_short(const struct sums *sums, unsigned prototype, double burst_min_seconds);

/* Fills labels from the table. Prototypes whose bursts are short are in no phase. sums: of all ranks. */
void phase_labels_fill(struct phase_labels *labels, const struct prototype_table *table,
		const struct sums *sums, double burst_min_seconds);

/* Sets `use` to what is in the sums of one rank, and in its unread bursts, of the first `prototypes` prototypes. */
void rank_use_of(struct rank_use *use, unsigned prototypes, const struct sums *sums,
		const struct unread *unread);

/* Sets the seconds in each of PROTOTYPES_MAX prototypes. */
void rank_use_seconds(const struct rank_use *use, double *seconds);

/* Subtracts what others did from what they and one rank did, by prototype. */
void rank_use_subtract(struct rank_use *all, const struct rank_use *others);

/* Adds up what a rank did by phase. Of each prototype, the read bursts stand for all. */
void rank_use_by_phase(const struct rank_use *by_prototype, const struct phase_labels *labels,
		struct rank_use *by_phase);

/* Sets each of most[PROTOTYPES_MAX] to the rank's seconds in the phase, if these are more. */
void rank_use_most(const struct rank_use *by_phase, double *most);

/* Adds a rank. most: of all ranks, by rank_use_most. spreads: of its iterations, by phase. */
void phase_ranks_add(struct phase_ranks *ranks, uint32_t phases, uint32_t rank,
		const struct rank_use *by_phase, const double *most,
		const struct iteration_spreads *spreads);

/* Adds the ranks of `in` to `inout`. Both are struct phase_ranks, without a rank in common. Has the form of mpi_merge. */
void phase_ranks_merge(const void *in, void *inout);

/*
 * Adds up the phases of all ranks in `ranks` of rank 0, which are zeros before. scratch: written on every rank. labels: rank
 * 0's are valid, and all ranks receive them. All ranks call it together. Returns 0 or -EIO.
 */
int phase_ranks_reduce(struct phase_ranks *ranks, struct phase_ranks *scratch,
		const struct rank_use *by_prototype, struct phase_labels *labels, uint32_t rank,
		const struct mpi_adapter *adapter);

#endif
