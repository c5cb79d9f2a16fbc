/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of one rank by bin and column: its large phases, other computing, calls, and what was not observed.
 *
 * The timeline knows the bin of all computing time, but not the phase of all of it. Bursts that were not read before any
 * like them was classified, prototypes without a place, and rests are not told apart in it. The time in each phase is known of
 * the whole run. What is not known in a bin is given to the phases that have time left, mostly to those that are in the bin
 * anyway. Then bins and phases are scaled in turn until both sums hold (iterative proportional fitting, Deming and
 * Stephan 1940). The phases come last, so that the bins of a phase add up to its time.
 */
#ifndef PHASEMUX_AGENT_TIMELINE_PLACING_H
#define PHASEMUX_AGENT_TIMELINE_PLACING_H

#include "agent/timeline/timeline.h"
#include "cluster/prototypes.h"

#define TIMELINE_PHASES 8 /* that have a column */

enum timeline_column {
	TIMELINE_OTHER = TIMELINE_PHASES, /* computing in no phase, or in a smaller one */
	TIMELINE_IN_CALLS,
	TIMELINE_OFF, /* not observed */
	TIMELINE_COLUMNS
};

/* The phases that have a column. Zeros are none. */
struct timeline_labels {
	uint32_t phases;
	uint32_t phase[TIMELINE_PHASES]; /* numbers of the phases */
	uint8_t column[PROTOTYPES_MAX];  /* 1 + column of the prototype's phase; 0: it has none */
};

/* The timeline of one process. */
struct timeline_of_process {
	struct timeline timeline; /* of all of its threads */
	double ns_per_tick;
	double threads; /* number of threads, in the mean of the run */
	double compute; /* seconds of all bursts of all threads */
	uint32_t rank;
	uint32_t prototypes; /* number of `seconds` */
	double *seconds; /* computing time in each prototype, as in the report; owned by the caller */
};

/* Seconds by bin and column. */
typedef float timeline_seconds[TIMELINE_BINS][TIMELINE_COLUMNS];

/* Sets the seconds of each bin. The width of a bin is that of the timeline. Returns false without memory. */
bool timeline_place(const struct timeline_of_process *process, const struct timeline_labels *labels,
		timeline_seconds seconds);

#endif
