/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the functions and lines in which a phase was sampled most. */
#ifndef PHASEMUX_AGENT_REPORT_PARTS_HOTSPOTS_H
#define PHASEMUX_AGENT_REPORT_PARTS_HOTSPOTS_H

#include <jansson.h>
#include <stdint.h>

#include "agent/spool/profile.h"
#include "agent/symbols/source.h"
#include "cluster/prototypes.h"

/*
 * Returns the report's "profile" of a phase, which the caller owns: the number of samples, and the functions
 * and lines with most of them. Shares are of the samples whose place was looked up. profile or source NULL:
 * there are no samples. Returns NULL without memory.
 */
json_t *hotspots_of_phase(const struct profile *profile, const struct prototype_table *table,
		uint32_t phase, struct source *source);

#endif
