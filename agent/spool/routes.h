/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes: the pairs of call paths that the bursts of each prototype run between, and the time of these bursts.
 * A process has its routes in the call sites of its threads. All processes together have a bounded table with
 * the routes that took most time, and with the longest one of every prototype. Its places mean the same in
 * every process (agent/symbols/place_files.h). The routes of rank 0 would not do, because it may not run every
 * phase.
 */
#ifndef PHASEMUX_AGENT_SPOOL_ROUTES_H
#define PHASEMUX_AGENT_SPOOL_ROUTES_H

#include <stdint.h>

#include "agent/symbols/place_files.h"
#include "agent/thread/site.h"

#define ROUTES_MAX 512 /* routes of all processes */

/* One end: the call of the runtime, and the call path that led to it. */
struct route_end {
	uint32_t call; /* enum runtime_call; RUNTIME_CALLS: not known */
	uint32_t frames;
	uint64_t place[PATH_FRAMES_MAX]; /* innermost first; after routes_restore these are addresses */
};

struct route {
	struct route_end from, to;
	double seconds;
	uint32_t prototype, unused; /* prototype PROTOTYPES_MAX: none; it only tells paths apart */
};

/* Plain data; zeros are an empty table. */
struct routes {
	uint32_t count, unused;
	struct route route[ROUTES_MAX];
};

/*
 * Returns the end of a route at a site of a thread. modules: the `count` files that its process has loaded, some
 * of which are added to `files`.
 */
struct route_end routes_end(const struct site_table *sites, uint32_t site,
		const struct module *modules, unsigned count, struct place_files *files);

/* Returns the order of two ends; 0 if they are equal. */
int routes_compare_ends(const struct route_end *x, const struct route_end *y);

/*
 * Returns the number of an end in a table with room for `max`, to which it is added if it is missing; `max` without
 * room.
 */
uint32_t routes_number_end(struct route_end *ends, uint32_t *count, uint32_t max,
		const struct route_end *end);

/* Turns the places of an end into addresses, as place_files_address does. */
void routes_restore_end(struct route_end *end, const struct place_files *files,
		struct place_modules *modules);

/*
 * Adds the routes of one thread's call sites to the table. modules: the files that its process has loaded. Adds
 * nothing if there is no memory.
 */
void routes_share(const struct site_table *sites, double ns_per_tick, const struct module *modules,
		unsigned count, struct place_files *files, struct routes *routes);

/* Adds the routes of `from` to those of `into`. Adds nothing if there is no memory. */
void routes_merge(const struct routes *from, struct routes *into);

/* Turns the places of all routes into addresses, as place_files_address does. */
void routes_restore(struct routes *routes, const struct place_files *files,
		struct place_modules *modules);

#endif
