/* SPDX-License-Identifier: BSD-3-Clause */
/* Estimates the phases of a run, and makes the parts of the report's document that need them. */
#ifndef PHASEMUX_AGENT_REPORT_PHASE_JSON_H
#define PHASEMUX_AGENT_REPORT_PHASE_JSON_H

#include <jansson.h>

#include "agent/report/report_facts.h"
#include "agent/report/silent.h"

/* Parts of the document. Each is the caller's; NULL without memory. */
struct phase_parts {
	json_t *phases; /* most time first */
	json_t *structure, *timeline, *sample;
	json_t *interval_cost; /* factor by which unread bursts widen the intervals, or null */
};

/* Fills the parts. silent: gets the events that count nothing in any phase, which the parts do not have. */
void phase_parts(const struct report_facts *facts, struct silent *silent,
		struct phase_parts *parts);

#endif
