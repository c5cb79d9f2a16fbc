/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the part of the report's document with a sample of the bursts, from which phases were learned last. */
#ifndef PHASEMUX_AGENT_REPORT_PARTS_SAMPLE_JSON_H
#define PHASEMUX_AGENT_REPORT_PARTS_SAMPLE_JSON_H

#include <jansson.h>

#include "agent/ledger/reservoir.h"
#include "cluster/prototypes.h"

struct sample_facts {
	const struct reservoir *sample; /* NULL: not known */
	const enum metric *metric;      /* that span the space of the table */
	unsigned metrics;
	const struct prototype_table *table;
	const unsigned *number; /* by phase of the table: number in the report; 0: the report does not have it */
	double burst_min_seconds; /* shorter bursts are left out */
};

/* Returns the sample, and the prototypes of the phases, or null. Owned by the caller; NULL without memory. */
json_t *sample_json(const struct sample_facts *facts);

#endif
