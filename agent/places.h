/* SPDX-License-Identifier: BSD-3-Clause */
/* Which places of the program a phase's bursts run between, by their names. */
#ifndef PHASEMUX_AGENT_PLACES_H
#define PHASEMUX_AGENT_PLACES_H

#include <jansson.h>
#include <stdint.h>

#include "agent/routes.h"
#include "agent/source.h"
#include "cluster/prototypes.h"

struct places;

/*
 * Of these routes, whose places are addresses for `source`. Both must outlive what is returned. routes NULL:
 * there are none; source NULL: places have no names. NULL without memory.
 */
struct places *places_new(const struct routes *routes, struct source *source);
void places_free(struct places *places);

/*
 * The pairs of places that hold most of the phase's time, as the report's "source": the array, most
 * time first. Named is the innermost place of the call path that tells it from the paths of all
 * other routes: a wrapper with several callers gives way to its caller. Functions that the compiler put into
 * their callers are no wrappers: the place of the call itself is named, and so is the place that tells it
 * from others. The caller owns it.
 */
json_t *places_of_phase(struct places *places, const struct prototype_table *table, uint32_t phase);

#endif
