/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/routes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/boundary/calls.h"
#include "cluster/prototypes.h"

/* ---- the bounded table ---- */

int routes_compare_ends(const struct route_end *x, const struct route_end *y)
{
	if (x->call != y->call)
		return (x->call > y->call) - (x->call < y->call);
	if (x->frames != y->frames)
		return (x->frames > y->frames) - (x->frames < y->frames);
	return memcmp(x->place, y->place, x->frames * sizeof(x->place[0]));
}

uint32_t routes_number_end(struct route_end *ends, uint32_t *count, uint32_t max,
		const struct route_end *end)
{
	for (uint32_t i = 0; i < *count; i++)
		if (routes_compare_ends(&ends[i], end) == 0)
			return i;
	if (*count == max)
		return max;
	ends[*count] = *end;
	return (*count)++;
}

static int by_route(const void *a, const void *b)
{
	const struct route *x = a, *y = b;
	int order = routes_compare_ends(&x->from, &y->from);

	if (x->prototype != y->prototype)
		return (x->prototype > y->prototype) - (x->prototype < y->prototype);
	return order ? order : routes_compare_ends(&x->to, &y->to);
}

static int by_time(const void *a, const void *b)
{
	double x = ((const struct route *)a)->seconds, y = ((const struct route *)b)->seconds;

	if (x != y)
		return (x < y) - (x > y);
	return by_route(a, b);
}

/* Moves the longest route of every prototype to the front; routes are sorted by time. */
static void move_longest(struct route *routes, size_t count)
{
	bool met[PROTOTYPES_MAX + 1] = { false };
	size_t front = 0;

	for (size_t i = 0; i < count; i++) {
		uint32_t prototype = routes[i].prototype < PROTOTYPES_MAX ? routes[i].prototype :
									    PROTOTYPES_MAX;
		struct route moved = routes[i];

		if (met[prototype])
			continue;
		met[prototype] = true;
		memmove(&routes[front + 1], &routes[front], (i - front) * sizeof(*routes));
		routes[front++] = moved;
	}
}

/* Adds up equal routes, and puts those into the table for which it has room. */
static void settle_routes(struct routes *table, struct route *routes, size_t count)
{
	size_t kept = 0;

	qsort(routes, count, sizeof(*routes), by_route);
	for (size_t i = 0; i < count; i++) {
		if (kept && by_route(&routes[kept - 1], &routes[i]) == 0)
			routes[kept - 1].seconds += routes[i].seconds;
		else
			routes[kept++] = routes[i];
	}
	qsort(routes, kept, sizeof(*routes), by_time);
	if (kept > ROUTES_MAX)
		move_longest(routes, kept);
	table->count = (uint32_t)(kept < ROUTES_MAX ? kept : ROUTES_MAX);
	memcpy(table->route, routes, table->count * sizeof(*routes));
}

void routes_merge(const struct routes *from, struct routes *into)
{
	struct route *all = malloc(2 * sizeof(into->route));

	if (!all)
		return;
	memcpy(all, into->route, into->count * sizeof(*all));
	memcpy(all + into->count, from->route, from->count * sizeof(*all));
	settle_routes(into, all, into->count + from->count);
	free(all);
}

/* ---- the call sites of a thread ---- */

struct sharing {
	const struct site_table *sites;
	const struct module *modules;
	unsigned count;
	struct place_files *files;
	double ns_per_tick;
};

struct route_end routes_end(const struct site_table *sites, uint32_t number,
		const struct module *modules, unsigned count, struct place_files *files)
{
	const struct site *site = &sites->site[number];
	const struct path_table *paths = &sites->paths;
	/* site 0 stands for sites of any call that found no room */
	struct route_end end = { .call = number ? site->call : RUNTIME_CALLS };
	const struct path *path = &paths->path[site->path < paths->count ? site->path : 0];

	for (; number && end.frames < path->frames && end.frames < PATH_FRAMES_MAX; end.frames++)
		/* the call is before the address that it returns to, perhaps in another file */
		end.place[end.frames] =
				place_files_note(files, path->address[end.frames], modules, count);
	return end;
}

static struct route_end end_of(const struct sharing *sharing, uint32_t number)
{
	return routes_end(sharing->sites, number, sharing->modules, sharing->count, sharing->files);
}

/* Adds a route between the ends of a span. Returns how many routes there are. */
static size_t add_route(const struct sharing *sharing, const struct span *span, uint32_t prototype,
		double ticks, struct route *routes, size_t count)
{
	routes[count] = (struct route){ end_of(sharing, span->from), end_of(sharing, span->to),
		ticks * sharing->ns_per_tick * 1e-9, prototype, 0 };
	return count + 1;
}

/*
 * Adds a route for each prototype that bursts of the span went to, and notes these prototypes. Returns how
 * many routes there are.
 */
static size_t add_shares(const struct sharing *sharing, const struct span *span, bool *met,
		struct route *routes, size_t count)
{
	for (unsigned l = 0; l < span->lengths; l++)
		for (unsigned i = 0; i < SPAN_SHARES_MAX; i++) {
			const struct span_share *share =
					&sharing->sites->length[span_length_number(span, l)]
							 .share[i];
			double ticks = span_share_ticks(share);

			if (share->prototype >= PROTOTYPES_MAX || !(ticks > 0))
				continue;
			count = add_route(sharing, span, share->prototype, ticks, routes, count);
			met[share->prototype] = true;
		}
	return count;
}

void routes_share(const struct site_table *sites, double ns_per_tick, const struct module *modules,
		unsigned count, struct place_files *files, struct routes *routes)
{
	const struct sharing sharing = { sites, modules, count, files, ns_per_tick };
	size_t most = ROUTES_MAX + (size_t)(sites->spans + 1) * SPAN_LENGTHS_MAX * SPAN_SHARES_MAX +
			PROTOTYPES_MAX;
	size_t all = routes->count;
	struct route *gathered = malloc(most * sizeof(*gathered));
	bool met[PROTOTYPES_MAX] = { false };

	if (!gathered)
		return;
	memcpy(gathered, routes->route, all * sizeof(*gathered));
	for (uint32_t i = 0; i <= sites->spans; i++) {
		size_t before = all;

		if (!sites->span[i].used)
			continue;
		all = add_shares(&sharing, &sites->span[i], met, gathered, all);
		/* the span is of no phase, but its paths tell the paths of other spans apart */
		if (all == before)
			all = add_route(&sharing, &sites->span[i], PROTOTYPES_MAX, 0, gathered,
					all);
	}
	/* prototypes for which no span had room */
	for (uint32_t p = 0; p < PROTOTYPES_MAX; p++)
		if (!met[p] && sites->home[p].ticks > 0)
			all = add_route(&sharing, &sites->span[sites->home[p].span], p,
					(double)sites->home[p].ticks, gathered, all);
	settle_routes(routes, gathered, all);
	free(gathered);
}

void routes_restore_end(struct route_end *end, const struct place_files *files,
		struct place_modules *modules)
{
	for (uint32_t i = 0; i < end->frames; i++)
		end->place[i] = place_files_address(files, end->place[i], modules);
}

void routes_restore(struct routes *routes, const struct place_files *files,
		struct place_modules *modules)
{
	for (uint32_t i = 0; i < routes->count; i++) {
		routes_restore_end(&routes->route[i].from, files, modules);
		routes_restore_end(&routes->route[i].to, files, modules);
	}
}
