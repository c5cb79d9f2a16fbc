/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the phases of a result would do with other sizes of the last cache, from a second run in the emulator that counted
 * their misses (model emulated-caches). docs/simulate.md describes the document.
 */
#ifndef PHASEMUX_TOOLS_CACHES_CACHES_DOCUMENT_H
#define PHASEMUX_TOOLS_CACHES_CACHES_DOCUMENT_H

#include <jansson.h>
#include <stddef.h>

#include "sampling/emulated/core_model.h"

#define CACHES_PHASES_MAX 10 /* phases that are simulated: those with most of the time */

/* Returns the bytes of the last cache at a size, by its place in core_sizes. */
uint64_t caches_bytes(const struct core_spec *spec, unsigned size);

/*
 * Makes the document. recorded: the report of the first run; emulated: that of the second one; base: which of core_sizes the
 * last cache has as it is; -1: that of the core model. Both reports are those that report_is_valid() accepts. Returns NULL
 * with one line in `why` if the reports have nothing to compare, or without memory.
 */
json_t *caches_document(const json_t *recorded, const json_t *emulated, int base, char *why,
		size_t why_size);

#endif
