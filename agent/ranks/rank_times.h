/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The times of each rank of a job, in a size that does not depend on their number: of up to 512 ranks the times of each,
 * and of more ranks how many have which time. All members are doubles, so that ranks are merged by adding.
 */
#ifndef PHASEMUX_AGENT_RANKS_RANK_TIMES_H
#define PHASEMUX_AGENT_RANKS_RANK_TIMES_H

#include <stdbool.h>

#define RANK_TIMES_MAX 512

/* Seconds of a rank, or of a quantile of the ranks; NAN: not known. */
struct rank_time {
	double useful; /* of its threads while they computed, in the mean */
	double mpi;    /* of the thread that calls MPI, in MPI */
};

/*
 * With up to RANK_TIMES_MAX ranks, place i has the times of rank i. With more, place i has the number of ranks whose time is
 * between i and i + 1 parts of RANK_TIMES_MAX of the run. Zeros are no rank.
 */
struct rank_times {
	struct rank_time place[RANK_TIMES_MAX];
};

/* Returns whether a job of `ranks` ranks has the times of each. */
bool rank_times_has_each(int ranks);

/* Adds the times of a rank of `ranks` ranks. wall_seconds: the time of the run, equal on all ranks. */
void rank_times_add(struct rank_times *times, int rank, int ranks, const struct rank_time *seconds,
		double wall_seconds);

/*
 * Returns the times that a part of the ranks, from 0 to 1, do not exceed, each by itself, of more than RANK_TIMES_MAX ranks.
 * They are exact to a part of RANK_TIMES_MAX of the run. NAN if there is no rank.
 */
struct rank_time rank_times_quantile(const struct rank_times *times, double part,
		double wall_seconds);

#endif
