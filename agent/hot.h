/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions and lines in which a phase was sampled most, by their names. */
#ifndef PHASEMUX_AGENT_HOT_H
#define PHASEMUX_AGENT_HOT_H

#include <jansson.h>
#include <stdint.h>

#include "agent/profile.h"
#include "agent/source.h"
#include "cluster/prototypes.h"

/*
 * The report's "profile" of a phase: how many samples, and of them the functions and the lines with
 * the most; shares are of the samples whose place was looked up. profile or source NULL: no sample.
 * The caller owns it; NULL without memory.
 */
json_t *hot_of_phase(const struct profile *profile, const struct prototype_table *table,
		uint32_t phase, struct source *source);

#endif
