/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The numbers on which all ranks agree before anything is counted, in one collective: each becomes its maximum
 * over all ranks. All are doubles. A rank that cannot open the core takes part as well, and says so.
 */
#ifndef PHASEMUX_AGENT_SETUP_AGREEMENT_H
#define PHASEMUX_AGENT_SETUP_AGREEMENT_H

#include "agent/setup/counting.h"

struct agreement {
	double coreless; /* 1 + rank if the rank has no core, else 0; if not 0, no rank counts */
	double run;      /* number of the run on rank 0; 0 on the others */
	double no_structure;     /* 1: this rank does not keep the structure of its calls */
	double no_arguments;     /* 1: nor does it keep their arguments */
	double no_region;        /* 1: this rank is not asked for a region */
	double sound;            /* 1: this rank has no error that keeps it from counting */
	double host, minus_host; /* a number for the name of the rank's host, and its negative */
	struct counting_limits limits;
};

#define AGREEMENT_LENGTH (sizeof(struct agreement) / sizeof(double))

#endif
