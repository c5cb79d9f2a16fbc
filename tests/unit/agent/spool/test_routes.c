/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the routes of several processes, whose addresses differ: one table has the places of all. */
#include <stdlib.h>

#include "agent/boundary/calls.h"
#include "agent/spool/profile.h"
#include "tests/tap.h"

#define FILE_BYTES 0x10000

static struct module module_at(uintptr_t base, const char *path)
{
	struct module module = { base, base, base + FILE_BYTES, "" };

	snprintf(module.path, sizeof(module.path), "%s", path);
	return module;
}

/* Makes a site whose path has one address. */
static void make_site(struct site_table *sites, unsigned number, uintptr_t address, unsigned call)
{
	sites->paths.path[number].address[0] = address;
	sites->paths.path[number].frames = 1;
	if (sites->paths.count <= number)
		sites->paths.count = number + 1;
	sites->site[number].path = (uint16_t)number;
	sites->site[number].call = (uint16_t)call;
}

/* Adds a span, in which a burst of the prototype ran from one site to another. */
static void make_span(struct site_table *sites, unsigned from, unsigned to, uint32_t prototype,
		double ticks)
{
	struct span *span = &sites->span[++sites->spans];

	span->used = true;
	span->from = (uint16_t)from;
	span->to = (uint16_t)to;
	span_note(&sites->length[span_length(sites, span, (uint64_t)ticks)], prototype, 1, ticks);
}

/* Returns the route of the prototype, or NULL if it has none. */
static const struct route *find(const struct routes *routes, uint32_t prototype)
{
	for (uint32_t i = 0; i < routes->count; i++)
		if (routes->route[i].prototype == prototype)
			return &routes->route[i];
	return NULL;
}

static void share(const struct site_table *sites, const struct module *module,
		struct profile_total *total)
{
	routes_share(sites, 1, module, 1, &total->files, &total->routes);
}

/* Each process has a phase of its own, and both have one in common. */
static void test_two_processes(void)
{
	struct site_table *one = calloc(1, sizeof(*one)), *two = calloc(1, sizeof(*two));
	struct profile_total *total = calloc(1, sizeof(*total)), *other = calloc(1, sizeof(*other));
	struct module first = module_at(0x400000, "/a"), second = module_at(0x700000, "/a");
	struct profile *profile = calloc(1, sizeof(*profile));
	const struct route *route;

	make_site(one, 1, 0x400010, MPI_CALL_Init);
	make_site(one, 2, 0x400020, MPI_CALL_Send);
	make_span(one, 1, 2, 5, 1e9);
	make_span(one, 2, 2, 6, 2e9);
	make_site(two, 1, 0x700010, MPI_CALL_Init);
	make_site(two, 2, 0x700020, MPI_CALL_Send);
	make_span(two, 1, 2, 5, 3e9);
	make_span(two, 2, 1, 7, 4e9);
	share(one, &first, total);
	share(two, &second, other);
	profile_merge(other, total);
	is_int(total->routes.count, 3, "routes of two processes");
	profile_restore(total, &first, 1, 1, profile);
	route = find(&total->routes, 5);
	ok(route && fabs(route->seconds - 4) < 1e-9, "what both have is added");
	route = find(&total->routes, 7);
	if (ok(route, "a phase that only the other process has is there")) {
		is_int((long long)route->from.place[0], 0x400020, "where this process has it");
		is_int(route->from.call, MPI_CALL_Send, "after which call");
		is_int((long long)route->to.place[0], 0x400010, "and where it ends");
	}
	free(profile);
	free(other);
	free(total);
	free(two);
	free(one);
}

/* A span has more prototypes than it has room for. */
static void test_home(void)
{
	struct site_table *sites = calloc(1, sizeof(*sites));
	struct profile_total *total = calloc(1, sizeof(*total));
	struct module module = module_at(0x400000, "/a");
	const struct route *route;

	make_site(sites, 1, 0x400010, MPI_CALL_Init);
	make_site(sites, 2, 0x400020, MPI_CALL_Send);
	make_span(sites, 1, 2, 0, 1e9);
	for (uint32_t p = 0; p < 100; p++) {
		span_note(&sites->length[1], p, 1, 1e6);
		site_vote_home(&sites->home[p], 1, 1e6);
	}
	share(sites, &module, total);
	route = find(&total->routes, 99);
	if (ok(route, "a prototype that found no room in its span has a route"))
		is_int(route->to.call, MPI_CALL_Send, "which is that of the span");
	free(total);
	free(sites);
}

/* There are more routes than the table holds, and each prototype keeps its longest. */
static void test_bound(void)
{
	struct site_table *sites = calloc(1, sizeof(*sites));
	struct profile_total *total = calloc(1, sizeof(*total));
	struct module module = module_at(0x400000, "/a");
	unsigned kept = 0;

	for (unsigned part = 0; part < 4; part++) {
		memset(sites, 0, sizeof(*sites));
		for (unsigned site = 1; site < 256; site++)
			make_site(sites, site, 0x400000 + 0x100 * part * 32 + site, MPI_CALL_Send);
		for (unsigned site = 1; site < 255; site++)
			make_span(sites, site, site + 1, site, site == 7 ? 1 : 1e9 * part + site);
		share(sites, &module, total);
	}
	is_int(total->routes.count, ROUTES_MAX, "the table is full");
	for (uint32_t p = 1; p < 255; p++)
		kept += find(&total->routes, p) != NULL;
	is_int(kept, 254, "every prototype has a route, also one that took little time");
	free(total);
	free(sites);
}

/* A thread has more pairs of call sites than spans. Of the others only the calls are known. */
static void test_many_spans(void)
{
	struct site_table *sites = calloc(1, sizeof(*sites));
	uint32_t first, late, other, number;

	sites->paths.count = 3000;
	first = span_find(sites, site_find(sites, 1, MPI_CALL_Send),
			site_find(sites, 2, MPI_CALL_Recv));
	for (uint32_t path = 3; path < 2600; path += 2)
		span_find(sites, site_find(sites, path, MPI_CALL_Send),
				site_find(sites, path + 1, MPI_CALL_Recv));
	number = site_find(sites, 2850, MPI_CALL_Wait);
	late = span_find(sites, number, site_find(sites, 2851, MPI_CALL_Barrier));
	ok(late != 0, "a span that finds no room is not nothing");
	is_int(sites->site[sites->span[late].from].call, MPI_CALL_Wait, "its first call is known");
	is_int(sites->site[sites->span[late].to].call, MPI_CALL_Barrier, "and its last one");
	is_int(sites->site[sites->span[late].from].path, 0, "but not the paths to it");
	other = span_find(sites, site_find(sites, 2860, MPI_CALL_Wait),
			site_find(sites, 2861, MPI_CALL_Barrier));
	is_int(other, late, "all between the same calls are one");
	is_int(span_find(sites, site_find(sites, 1, MPI_CALL_Send),
			       site_find(sites, 2, MPI_CALL_Recv)),
			first, "spans from before stay");
	is_int(sites->site[number].path, 2850, "and the site itself is known");
	free(sites);
}

int main(void)
{
	test_many_spans();
	test_two_processes();
	test_home();
	test_bound();
	return tap_done();
}
