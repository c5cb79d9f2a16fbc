/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the places of the program between which a phase's bursts run. */
#ifndef PHASEMUX_AGENT_REPORT_PARTS_PLACES_H
#define PHASEMUX_AGENT_REPORT_PARTS_PLACES_H

#include <jansson.h>
#include <stdint.h>

#include "agent/spool/routes.h"
#include "agent/structures/structures.h"
#include "agent/symbols/source.h"
#include "cluster/prototypes.h"

struct places;

/*
 * Returns the places of these routes, and of the calls of these structures. They are addresses for `source`. All
 * must outlive what is returned. routes, structures NULL: there are none. source NULL: places have no names.
 * Returns NULL without memory.
 */
struct places *places_new(const struct routes *routes, const struct structures *structures,
		struct source *source);
void places_free(struct places *places);

/*
 * Returns the report's "source": an array, which the caller owns, of the pairs of places with most of the
 * phase's time, most time first. A call path is named by its innermost place that distinguishes it from the
 * paths of all other routes. A wrapper with several callers is therefore replaced by its caller. Functions
 * that the compiler inlined into their callers are no wrappers. For these, both the place of the call itself
 * and the place that distinguishes it are named.
 */
json_t *places_of_phase(struct places *places, const struct prototype_table *table, uint32_t phase);

/*
 * Returns the place of a call of the structures: an object, which the caller owns, with "call", and with the
 * "function" and "position" that distinguish it (null: not known).
 */
json_t *places_of_call(struct places *places, const struct route_end *end);

#endif
