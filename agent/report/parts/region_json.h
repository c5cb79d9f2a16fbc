/* SPDX-License-Identifier: BSD-3-Clause */
/* Says what the region of the run is (PHASEMUX_REGION), and how far it is from the whole run. */
#ifndef PHASEMUX_AGENT_REPORT_PARTS_REGION_JSON_H
#define PHASEMUX_AGENT_REPORT_PARTS_REGION_JSON_H

#include <jansson.h>

#include "agent/region/region_choice.h"
#include "agent/region/region_totals.h"

/*
 * Returns the report's "region", an object that the caller owns, or null if none is wanted (NULL). phases: the report's
 * "phases", with their prototypes and their shares of the time. totals: of all ranks. Returns NULL without memory.
 */
json_t *region_json(const struct region_choice *choice, const struct region_totals *totals,
		const json_t *phases);

#endif
