/* SPDX-License-Identifier: BSD-3-Clause */
/* The report's "fold": how counters evolve within a phase (fold.h). */
#ifndef PHASEMUX_AGENT_REPORT_PARTS_FOLD_JSON_H
#define PHASEMUX_AGENT_REPORT_PARTS_FOLD_JSON_H

#include <jansson.h>
#include <stdint.h>

#include "agent/setup/counting.h"

/*
 * Returns the report's "fold" of a phase, which the caller owns: each event's rate at FOLD_BINS places, as a
 * multiple of its mean rate. A rate is null if nothing was sampled there. sums: from fold_sums, or NULL.
 */
json_t *fold_json(const double *sums, const struct counting *counting, uint32_t phase);

#endif
