/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that the processor opens and never counts. Some virtual processors accept the number of any event, and
 * their counters then stay at 0. Such a 0 must not be reported as measured.
 *
 * A 0 alone does not tell, because a program may have no vector instructions. But some events cannot stay at 0
 * over a million instructions (model_event.busy: operations, branches, loads). If one of these does, no event
 * that is 0 everywhere is believed.
 */
#ifndef PHASEMUX_AGENT_REPORT_SILENT_H
#define PHASEMUX_AGENT_REPORT_SILENT_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/setup/counting.h"
#include "multiplex/estimate/estimate.h"

struct silent {
	double counted[PLAN_EVENTS_MAX]; /* sum over all bursts in which the event was counted */
	double instructions[PLAN_EVENTS_MAX]; /* of these bursts */
	bool event[PLAN_EVENTS_MAX];          /* by event number of the plan: not believed */
	unsigned count;                       /* number of these; 0: all events are believed */
};

/* Adds a phase. A struct silent of zeros has none. */
void silent_add(struct silent *silent, const struct phase_estimate *phase);

/* Decides which events are not believed. Call after all phases have been added. */
void silent_decide(struct silent *silent, const struct counting *counting);

/* Makes the events that are not believed unobserved in the phase. */
void silent_remove(const struct silent *silent, struct phase_estimate *phase);

/* Writes a line that names the events which are not believed. */
void silent_explain(const struct silent *silent, const struct counting *counting, char *text,
		size_t size);

#endif
