/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The differences between two sides, each of one or more runs, as a JSON document, of which every view of them is made
 * (docs/compare.md).
 */
#ifndef PHASEMUX_TOOLS_COMPARE_COMPARISON_H
#define PHASEMUX_TOOLS_COMPARE_COMPARISON_H

#include <jansson.h>

#include "tools/compare/run.h"

#define COMPARISON_RUNS_MAX 64

/*
 * Compares runs, of which the first `befores` are one side and the others the other one; each has at least one.
 * threshold: share of the wall time before that the wall time must grow by, beyond its interval, to be worse.
 * Returns NULL without memory.
 */
json_t *comparison_make(struct run *runs, size_t count, size_t befores, double threshold);

#endif
