/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What all ranks find out together before anything is counted, in one collective: every rank takes the maximum
 * of each number over all ranks. All doubles. A rank that cannot open the core takes part as well, and says so.
 */
#ifndef PHASEMUX_AGENT_AGREEMENT_H
#define PHASEMUX_AGENT_AGREEMENT_H

#include "agent/counting.h"

struct agreement {
	double without; /* 1 + the rank, where it has no core; no rank counts then */
	double run;     /* the number of the run, of rank 0; 0 on the others */
	struct counting_limits limits;
};

#define AGREEMENT_LENGTH (sizeof(struct agreement) / sizeof(double))

#endif
