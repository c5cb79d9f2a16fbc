/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How much the time of a phase, or of all, varies between the iterations of a rank. Ranks are merged by adding. What
 * differs between ranks is not part of it, because squares are those of deviations from the mean of each rank.
 */
#ifndef PHASEMUX_AGENT_RANKS_ITERATION_SPREAD_H
#define PHASEMUX_AGENT_RANKS_ITERATION_SPREAD_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/iterations/rank_iterations.h"
#include "cluster/prototypes.h"

/* Zeros are no iteration. Times in seconds. */
struct iteration_spread {
	double ranks, count; /* number of ranks, and of iterations that were measured in them */
	double sum, squares; /* of the times; of their deviations from the mean of their rank */
	double least, most;
};

struct iteration_spreads {
	struct iteration_spread whole;                 /* of iterations */
	struct iteration_spread phase[PROTOTYPES_MAX]; /* [0] is phase 1 */
};

/* Fills the spreads of one rank. iterations: NULL: there are none. phase: the phase of each prototype, from 1, or 0. */
void iteration_spreads_of(const struct rank_iterations *iterations,
		const uint32_t phase[PROTOTYPES_MAX], struct iteration_spreads *spreads);

/* Adds the ranks of `from`. */
void iteration_spread_merge(struct iteration_spread *into, const struct iteration_spread *from);

/* Returns the mean, or NAN if there are no iterations. */
double iteration_spread_mean(const struct iteration_spread *spread);

/* Returns the standard deviation between the iterations of a rank, or NAN if too few were measured. */
double iteration_spread_sd(const struct iteration_spread *spread);

/*
 * Returns whether the spread is known, and the iterations that were measured are like all, whose mean is `mean`: the bursts of
 * some phases are told apart only when they are read, and then their times in an iteration are not known.
 */
bool iteration_spread_is_like(const struct iteration_spread *spread, double mean);

#endif
