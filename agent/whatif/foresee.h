/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the wall time of a run would be after a change, from the times of its report alone. docs/whatif.md derives it, and thesis 9.2.2 has the
 * kinds of changes.
 *
 * Two assumptions about waiting give two times. Either all ranks wait for the slowest one after each phase, so that the run
 * becomes shorter by what the slowest rank saves in each phase. Or ranks wait only at the end, so that it becomes shorter by
 * what the rank saves that computes longest. In both, messages take as long as now, unless their time is what is changed:
 * then the first one has the least time of communication, and the second one the most (communication.h).
 */
#ifndef PHASEMUX_AGENT_WHATIF_FORESEE_H
#define PHASEMUX_AGENT_WHATIF_FORESEE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/whatif/change.h"
#include "agent/whatif/run_times.h"

/* Wall times after a change, in seconds. */
struct foreseen {
	double least, most; /* between these times */
	double error; /* half-width of the 95% interval of both, from those of the report; 0: exact or not known */
	double bound; /* computing time of the rank that then computes longest: no run can be shorter */
	size_t row;           /* of this rank in run_times */
	bool equal;           /* all ranks compute that long */
	double communication; /* factor of its time; 1: as now */
};

void foresee(struct foreseen *foreseen, const struct run_times *run, const struct change *change);

/*
 * Returns the seconds of the run that no faster and no better balanced phase shortens: messages, and waiting that does not
 * come from different times of ranks in a phase. NAN, not known, if ranks have several threads, or if different ranks
 * execute different phases at the same time.
 */
double foresee_unchanged(const struct run_times *run);

#endif
