/* SPDX-License-Identifier: BSD-3-Clause */
/* The report's part on the structure of the calls (agent/structures/structures.h). */
#ifndef PHASEMUX_AGENT_REPORT_STRUCTURE_H
#define PHASEMUX_AGENT_REPORT_STRUCTURE_H

#include <jansson.h>

#include "agent/report/places.h"
#include "agent/structures/structures.h"
#include "cluster/prototypes.h"

/*
 * Returns the report's "structure", which the caller owns, or NULL without memory. phase_number: by the table's
 * phases from 1, the number of each in the report, or 0.
 */
json_t *structure_json(const struct structures *structures, struct places *places,
		const struct prototype_table *table, const unsigned *phase_number);

#endif
