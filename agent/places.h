/* Which places of the program a phase's bursts run between, by their names. */
#ifndef PHASEMUX_AGENT_PLACES_H
#define PHASEMUX_AGENT_PLACES_H

#include <jansson.h>
#include <stdint.h>

#include "agent/site.h"
#include "agent/source.h"
#include "cluster/prototypes.h"

struct places;

/*
 * For the call sites of threads that have stopped: so many tables. All must outlive what is
 * returned. source NULL: places have no names. NULL without memory.
 */
struct places *places_new(const struct site_table *const *sites, unsigned tables,
		struct source *source);
void places_free(struct places *places);

/*
 * The pairs of places that hold most of the phase's time, as the report's "source": the array, most
 * time first. Named is the innermost place of the call path that tells it from the paths of all
 * other sites: a wrapper with several callers gives way to its caller. The caller owns it.
 */
json_t *places_of_phase(struct places *places, const struct prototype_table *table, uint32_t phase);

#endif
