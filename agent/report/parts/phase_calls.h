/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The efficiency of a phase: how much of the time in its bursts, and in the calls from their ends to the next burst of a
 * phase, is computing. Bursts between these calls are too short to have a phase. The factors are those of the whole run (thesis
 * 9.3): the load balance of the phase, and the communication, which is the rest. The times are those of the ranks' main threads,
 * in the structure of their calls.
 */
#ifndef PHASEMUX_AGENT_REPORT_PARTS_PHASE_CALLS_H
#define PHASEMUX_AGENT_REPORT_PARTS_PHASE_CALLS_H

#include <jansson.h>

#include "agent/structures/structures.h"
#include "cluster/prototypes.h"

/* The times of a phase in all ranks, in seconds. */
struct phase_calls {
	double bursts; /* before calls at which the phase has most of the time */
	double calls;  /* in these calls, and those behind them up to the next burst of a phase */
};

/* Adds up the times of a phase of the table. structures NULL: they are 0. */
struct phase_calls phase_calls(const struct structures *structures,
		const struct prototype_table *table, uint32_t phase);

/*
 * Returns the phase's "efficiency", which the caller owns, or null if the structure has less than half of the phase's time, as
 * that of threads or of slices. seconds: time in the phase of all ranks. load_balance: of the phase; NAN: not known.
 */
json_t *phase_calls_json(const struct phase_calls *calls, double seconds, double load_balance);

#endif
