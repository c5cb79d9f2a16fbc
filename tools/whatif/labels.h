/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which phases the bursts before a call of the structure belong to. The structure has one phase for each of its calls. If
 * bursts of several phases come before it, most of the time may belong to another one.
 */
#ifndef PHASEMUX_TOOLS_WHATIF_LABELS_H
#define PHASEMUX_TOOLS_WHATIF_LABELS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/whatif/run_times.h"

struct labels {
	size_t phases;
	/* by the phase that the structure names: parts of the time that belong to each phase; they add up to 1 */
	double (*part)[RUN_TIMES_PHASES_MAX];
};

/*
 * Compares the computing time of the calls that have a phase with the time of the phase in the report. What is too much belongs
 * to phases that have too little and end at the same places. Returns false without memory; call labels_fini() also then.
 */
bool labels_read(struct labels *labels, const struct run_times *run);

/* Returns the factor of the bursts that the structure has in a phase. factor: of each phase. */
double labels_factor(const struct labels *labels, size_t phase, const double *factor);

/* Returns the same for a rank, which has a row in the times: it may execute only some of these phases. */
double labels_rank_factor(const struct labels *labels, const struct run_times *run, size_t row,
		size_t phase, const double *factor);

/* Returns the phase to which most of the time belongs. */
size_t labels_main(const struct labels *labels, size_t phase);

void labels_fini(struct labels *labels);

#endif
