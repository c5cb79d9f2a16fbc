/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/places.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/boundary/calls.h"
#include "agent/host/hash.h"
#include "agent/report/parts/document.h"

#define PAIRS_MAX 4 /* maximum number of pairs per phase */
#define CHAIN_MAX (2 * PATH_FRAMES_MAX)
#define NAMED_MAX 2048
#define KNOWN_MAX 4096 /* number of remembered addresses; a power of two */

/* A place with a name. Places with equal names are one. */
struct named {
	char *function, *position;
	bool interpreter; /* the functions that it runs have no known names */
};

/* The places of a call path, innermost first, by their numbers. */
struct chain {
	const struct route_end *path; /* a path that has these places */
	uint16_t count;
	uint16_t own;   /* number of places of the innermost frame, with its inlined functions */
	uint16_t level; /* the innermost place that distinguishes the path from others */
	uint16_t named[CHAIN_MAX];
};

/* The places that a return address stands for. */
struct known {
	uintptr_t address; /* 0: free */
	uint8_t count;
	uint16_t named[SOURCE_PLACES_MAX];
};

struct places {
	struct source *source;
	struct known known[KNOWN_MAX]; /* hash table by address */
	unsigned count;
	struct named named[NAMED_MAX];
	const struct routes *routes; /* NULL: none */
	unsigned chains;
	struct chain chain[2 * ROUTES_MAX +
			STRUCTURES_PATHS_MAX];     /* of the paths at which bursts start or end */
	uint16_t from[ROUTES_MAX], to[ROUTES_MAX]; /* numbers of each route's chains */
};

/* ---- names ---- */

/* Returns the number of the place of this function and position; NAMED_MAX: there is no room. */
static unsigned intern_names(struct places *places, const char *function, const char *position,
		bool interpreter)
{
	struct named *named = &places->named[places->count];

	for (unsigned i = 0; i < places->count; i++)
		if (strcmp(places->named[i].position, position) == 0 &&
				strcmp(places->named[i].function, function) == 0)
			return i;
	if (places->count == NAMED_MAX)
		return NAMED_MAX;
	named->function = strdup(function);
	named->position = strdup(position);
	if (!named->function || !named->position) {
		free(named->function);
		free(named->position);
		return NAMED_MAX;
	}
	named->interpreter = interpreter;
	return places->count++;
}

static unsigned intern(struct places *places, const struct source_place *place)
{
	char position[sizeof(place->file) + 32];

	source_position(place, position, sizeof(position));
	return intern_names(places, place->function, position,
			strncmp(place->module, "libpython", 9) == 0 ||
					strncmp(place->module, "python", 6) == 0);
}

/* Names an address, and fills *known. It is remembered, because many paths share it, and naming takes long. */
static void name_address(struct places *places, uintptr_t address, struct known *known)
{
	struct source_place found[SOURCE_PLACES_MAX];
	unsigned count = source_find(places->source, address, found, SOURCE_PLACES_MAX);

	*known = (struct known){ .address = address };
	for (unsigned i = 0; i < count; i++) {
		unsigned named = intern(places, &found[i]);

		if (named < NAMED_MAX)
			known->named[known->count++] = (uint16_t)named;
	}
}

/* Returns the places of an address. They are in *room if there is no other room. */
static const struct known *know(struct places *places, uintptr_t address, struct known *room)
{
	unsigned at = (unsigned)(hash_spread(address) >> 32);

	for (unsigned probes = 0; probes < 16; probes++) {
		struct known *known = &places->known[(at + probes) % KNOWN_MAX];

		if (!known->address)
			name_address(places, address, known);
		if (known->address == address)
			return known;
	}
	name_address(places, address, room);
	return room;
}

/* Names the function of the last place, which holds `inside`, as in the call that returns to `returns`. */
static void name_as_called(struct places *places, struct chain *chain, uintptr_t inside,
		uintptr_t returns)
{
	uint16_t *last = &chain->named[chain->count - 1];
	char name[sizeof(((struct source_place *)0)->function)];
	unsigned named;

	if (!source_alias(places->source, inside, returns, name, sizeof(name)))
		return;
	named = intern_names(places, name, places->named[*last].position, false);
	if (named < NAMED_MAX)
		*last = (uint16_t)named;
}

static void name_path(struct places *places, struct chain *chain)
{
	uintptr_t inside = 0;
	const struct route_end *path = chain->path;

	for (unsigned i = 0; i < path->frames && i < PATH_FRAMES_MAX; i++) {
		uintptr_t address = (uintptr_t)path->place[i];
		const char *module = source_module_name(places->source, address);
		const struct known *known;
		struct known room;

		/* the caller of main is of no interest */
		if (i && strncmp(module, "libc.so", 7) == 0)
			return;
		/* the preload is between a runtime and a region, whose path begins there */
		if (strncmp(module, "libphasemux", 11) == 0) {
			if (chain->count)
				return;
			continue;
		}
		/* the address is in no known file */
		if (strcmp(module, "?") == 0)
			continue;
		if (inside && chain->count)
			name_as_called(places, chain, inside, address);
		inside = address;
		known = know(places, address, &room);
		for (unsigned k = 0; k < known->count && chain->count < CHAIN_MAX; k++)
			chain->named[chain->count++] = known->named[k];
		if (!chain->own)
			chain->own = chain->count;
	}
}

/* Returns the number of the chain of an end, which is added if no other end has the same path. */
static uint16_t chain_of(struct places *places, const struct route_end *end)
{
	struct chain *chain = &places->chain[places->chains];

	for (unsigned i = 0; i < places->chains; i++) {
		const struct route_end *other = places->chain[i].path;

		if (other->frames == end->frames &&
				memcmp(other->place, end->place,
						end->frames * sizeof(end->place[0])) == 0)
			return (uint16_t)i;
	}
	chain->path = end;
	if (places->source)
		name_path(places, chain);
	return (uint16_t)places->chains++;
}

/* ---- which place distinguishes a path ---- */

/* Returns whether another path is equal up to `level`, and then has another caller. */
static bool has_other_callers(const struct places *places, const struct chain *chain,
		unsigned level)
{
	for (unsigned i = 0; i < places->chains; i++) {
		const struct chain *other = &places->chain[i];

		if (other->count > level + 1 &&
				memcmp(other->named, chain->named,
						(level + 1) * sizeof(chain->named[0])) == 0 &&
				other->named[level + 1] != chain->named[level + 1])
			return true;
	}
	return false;
}

static unsigned telling_level(const struct places *places, const struct chain *chain)
{
	unsigned level = 0;

	while (level + 1 < chain->count && !places->named[chain->named[level + 1]].interpreter &&
			has_other_callers(places, chain, level))
		level++;
	return level;
}

struct places *places_new(const struct routes *routes, const struct structures *structures,
		struct source *source)
{
	struct places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	places->routes = routes;
	places->source = source;
	for (uint32_t i = 0; routes && i < routes->count; i++) {
		places->from[i] = chain_of(places, &routes->route[i].from);
		places->to[i] = chain_of(places, &routes->route[i].to);
	}
	for (uint32_t i = 0; structures && i < structures->paths; i++)
		chain_of(places, &structures->path[i]);
	/* last, because the level depends on the names of all chains */
	for (unsigned i = 0; i < places->chains; i++)
		places->chain[i].level = (uint16_t)telling_level(places, &places->chain[i]);
	return places;
}

void places_free(struct places *places)
{
	if (!places)
		return;
	for (unsigned i = 0; i < places->count; i++) {
		free(places->named[i].function);
		free(places->named[i].position);
	}
	free(places);
}

/* ---- the report's part ---- */

/* Bursts between the same two places, of all threads. */
struct stretch {
	struct end {
		const struct chain *chain;
		unsigned call; /* enum runtime_call */
	} from, to;
	double seconds;
};

static bool same_end(const struct end *x, const struct end *y)
{
	const struct chain *a = x->chain, *b = y->chain;

	if (x->call != y->call)
		return false;
	if (!a->count || !b->count)
		return a->count == b->count;
	return a->named[a->level] == b->named[b->level];
}

static json_t *place_object(const struct named *named)
{
	return json_pack("{s:o,s:o}", "function", document_text(named->function), "position",
			document_text(named->position));
}

/* Adds "from", "from_call", "from_function", "from_path" for an end of a stretch, or the same for "to". */
static json_t *add_end(const struct places *places, json_t *pair, const char *key,
		const struct end *end)
{
	const struct chain *chain = end->chain;
	static const struct named unknown = { (char *)"", (char *)"?", false };
	/* if the place at `level` is in the innermost frame, it is added together with the call's own place */
	unsigned shown = chain->level < chain->own ? 0 : chain->level;
	const struct named *place = chain->count ? &places->named[chain->named[shown]] : &unknown;
	json_t *path = json_array();
	char name[32];

	for (unsigned i = 0; i < chain->count; i++)
		path = document_append(path, place_object(&places->named[chain->named[i]]));
	pair = document_set(pair, key, document_text(place->position));
	snprintf(name, sizeof(name), "%s_call", key);
	pair = document_set(pair, name, json_string(runtime_call_name(end->call)));
	snprintf(name, sizeof(name), "%s_function", key);
	pair = document_set(pair, name, document_text(place->function));
	if (shown < chain->level) {
		const struct named *caller = &places->named[chain->named[chain->level]];

		snprintf(name, sizeof(name), "%s_caller", key);
		pair = document_set(pair, name, place_object(caller));
	}
	snprintf(name, sizeof(name), "%s_path", key);
	return document_set(pair, name, path);
}

static int by_seconds(const void *a, const void *b)
{
	double x = ((const struct stretch *)a)->seconds, y = ((const struct stretch *)b)->seconds;

	return (x < y) - (x > y);
}

/* Adds to the stretch between the same places, or adds a new one. Returns the number of stretches. */
static unsigned add_stretch(struct stretch *stretches, unsigned count, const struct stretch *more)
{
	for (unsigned i = 0; i < count; i++) {
		struct stretch *stretch = &stretches[i];

		if (same_end(&stretch->from, &more->from) && same_end(&stretch->to, &more->to)) {
			stretch->seconds += more->seconds;
			return count;
		}
	}
	stretches[count++] = *more;
	return count;
}

json_t *places_of_phase(struct places *places, const struct prototype_table *table, uint32_t phase)
{
	struct stretch stretches[ROUTES_MAX];
	json_t *list = json_array();
	unsigned count = 0;
	double all = 0;

	for (uint32_t i = 0; places->routes && i < places->routes->count; i++) {
		const struct route *route = &places->routes->route[i];
		struct stretch stretch = { { &places->chain[places->from[i]], route->from.call },
			{ &places->chain[places->to[i]], route->to.call }, route->seconds };

		if (route->prototype >= table->count || table->all[route->prototype].phase != phase)
			continue;
		count = add_stretch(stretches, count, &stretch);
		all += route->seconds;
	}
	qsort(stretches, count, sizeof(*stretches), by_seconds);
	for (unsigned i = 0; i < count && i < PAIRS_MAX; i++) {
		json_t *pair = json_object();

		pair = add_end(places, pair, "from", &stretches[i].from);
		pair = add_end(places, pair, "to", &stretches[i].to);
		pair = document_set(pair, "share", json_real(stretches[i].seconds / all));
		list = document_append(list, pair);
	}
	return list;
}

json_t *places_of_call(struct places *places, const struct route_end *end)
{
	const struct chain *chain = &places->chain[chain_of(places, end)];
	const struct named *place =
			chain->count ? &places->named[chain->named[chain->level]] : NULL;

	return json_pack("{s:s,s:o,s:o}", "call", runtime_call_name(end->call), "function",
			place ? document_text(place->function) : json_null(), "position",
			place ? document_text(place->position) : json_null());
}
