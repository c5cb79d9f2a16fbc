/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks have recorded of the region. All members are doubles, so that ranks are merged by adding. */
#ifndef PHASEMUX_AGENT_REGION_REGION_TOTALS_H
#define PHASEMUX_AGENT_REGION_REGION_TOTALS_H

#include "cluster/prototypes.h"

struct region_totals {
	double ranks, iterations, calls; /* that were recorded */
	double whole, late, cut, inexact,
			lost; /* numbers of ranks: as in struct region_end; lost: without a file */
	double seconds[PROTOTYPES_MAX + 1]; /* of bursts, by 1 + prototype; 0: in none */
};

#endif
