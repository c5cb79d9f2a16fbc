/* SPDX-License-Identifier: BSD-3-Clause */
/* What rank 0 has chosen as the region, and why. Plain data. */
#ifndef PHASEMUX_AGENT_REGION_REGION_CHOICE_H
#define PHASEMUX_AGENT_REGION_REGION_CHOICE_H

#include "agent/region/steady.h"

struct region_choice {
	struct region_wish wish;
	struct steady steady;
	struct region_order order; /* iterations 0: nothing is ordered yet */
	double seconds;            /* when it was ordered, since the start of the run */
};

/*
 * Looks at a round, which has ended `seconds` after the start of the run, and has taken `took` seconds. Orders the region
 * if the requirements are met.
 */
void region_choice_look(struct region_choice *choice, const struct region_part *part,
		double seconds, double took);

#endif
