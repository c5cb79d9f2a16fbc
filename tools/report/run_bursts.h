/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of the bursts that a run has read (PHASEMUX_REPORT=bursts), beside its report. */
#ifndef PHASEMUX_TOOLS_REPORT_RUN_BURSTS_H
#define PHASEMUX_TOOLS_REPORT_RUN_BURSTS_H

#include <jansson.h>
#include <stddef.h>

#include "tools/cluster/burst_table.h"

/* Zeros are none. */
struct run_bursts {
	struct burst_table table; /* sorted by rank, thread and begin */
	unsigned *phase;          /* id of the phase of each prototype; 0: none */
	size_t prototypes;
};

/*
 * Reads the tables of all ranks. path: of the report. Returns 0; -ENOENT: the run has no table of bursts; -errno.
 * If it is not 0, `why` has one line. Call run_bursts_fini in each case.
 */
int run_bursts_open(struct run_bursts *bursts, const json_t *report, const char *path, char *why,
		size_t why_size);

/* Returns the id of the phase of a burst, 0 if it is in none. */
unsigned run_bursts_phase(const struct run_bursts *bursts, const struct burst *burst);

void run_bursts_fini(struct run_bursts *bursts);

#endif
