/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The result of a run as one JSON document (report.schema.json). Rank 0 makes it from the sums of all ranks.
 * Everything that users read is made from this document (report_text.h).
 */
#ifndef PHASEMUX_AGENT_REPORT_REPORT_H
#define PHASEMUX_AGENT_REPORT_REPORT_H

#include <jansson.h>

#include "agent/report/report_facts.h"

/* Returns the document, which the caller owns, or NULL without memory. */
json_t *report_build(const struct report_facts *facts);

/* Renews the part "agent" of the document, because making the document is part of the agent's work. */
void report_account(json_t *report, const struct report_facts *facts);

#endif
