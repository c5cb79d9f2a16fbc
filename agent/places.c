#include "agent/places.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/calls.h"
#include "agent/document.h"

#define PAIRS_MAX     4 /* named per phase */
#define CHAIN_MAX     (2 * PATH_FRAMES_MAX)
#define NAMED_MAX     2048
#define STRETCHES_MAX 512
#define KNOWN_MAX     4096 /* addresses remembered; a power of two */

/* A place with a name; those of equal names are one. */
struct named {
	char *function, *position;
	bool interpreter; /* what it runs has no names that we know */
};

/* The places of a call path, innermost first, by their numbers. */
struct chain {
	uint16_t count;
	uint16_t level; /* the place that tells most */
	uint16_t named[CHAIN_MAX];
};

/* What a return address stands for. */
struct known {
	uintptr_t address; /* 0: free */
	uint8_t count;
	uint16_t named[SOURCE_PLACES_MAX];
};

struct places {
	struct source *source;
	struct known known[KNOWN_MAX]; /* by address, hashed */
	unsigned count;
	struct named named[NAMED_MAX];
	unsigned tables; /* of call sites, one a thread */
	const struct site_table *const *sites;
	struct chain **chain; /* per table and path, of the paths that bursts begin or end at */
};

/* ---- names ---- */

/* The number of the place; NAMED_MAX: no room. */
static unsigned intern(struct places *places, const struct source_place *place)
{
	char position[sizeof(place->file) + 32];
	struct named *named = &places->named[places->count];

	source_position(place, position, sizeof(position));
	for (unsigned i = 0; i < places->count; i++)
		if (strcmp(places->named[i].position, position) == 0 &&
				strcmp(places->named[i].function, place->function) == 0)
			return i;
	if (places->count == NAMED_MAX)
		return NAMED_MAX;
	named->function = strdup(place->function);
	named->position = strdup(position);
	if (!named->function || !named->position) {
		free(named->function);
		free(named->position);
		return NAMED_MAX;
	}
	named->interpreter = strncmp(place->module, "libpython", 9) == 0 ||
			strncmp(place->module, "python", 6) == 0;
	return places->count++;
}

/* Many paths go through the same addresses, and to name one may take a while. */
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

/* Into *room where there is no other room for it. */
static const struct known *know(struct places *places, uintptr_t address, struct known *room)
{
	unsigned at = (unsigned)(address * 0x9e3779b97f4a7c15u >> 32);

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

static void name_path(struct places *places, const struct path *path, struct chain *chain)
{
	for (unsigned i = 0; i < path->frames && i < PATH_FRAMES_MAX; i++) {
		const char *module = source_module_name(places->source, path->address[i]);
		const struct known *known;
		struct known room;

		/* who calls main is of no interest */
		if (i && strncmp(module, "libc.so", 7) == 0)
			return;
		/* the preload stands between a runtime and a region, whose path begins there */
		if (strncmp(module, "libphasemux", 11) == 0) {
			if (chain->count)
				return;
			continue;
		}
		known = know(places, path->address[i], &room);
		for (unsigned k = 0; k < known->count && chain->count < CHAIN_MAX; k++)
			chain->named[chain->count++] = known->named[k];
	}
}

/* The places of the path of a site. */
static struct chain *chain_of(const struct places *places, unsigned table, unsigned site)
{
	const struct site_table *sites = places->sites[table];
	unsigned path = sites->site[site].path;

	return &places->chain[table][path < sites->paths.count ? path : 0];
}

static void name_site(struct places *places, unsigned table, unsigned site)
{
	const struct site_table *sites = places->sites[table];
	struct chain *chain = chain_of(places, table, site);

	if (!chain->count)
		name_path(places, &sites->paths.path[chain - places->chain[table]], chain);
}

/* Of the sites that bursts of this table run between; a program may call MPI in many more. */
static void name_table(struct places *places, unsigned table)
{
	const struct site_table *sites = places->sites[table];

	for (unsigned i = 0; i <= sites->spans; i++)
		if (sites->span[i].used) {
			name_site(places, table, sites->span[i].from);
			name_site(places, table, sites->span[i].to);
		}
}

/* ---- which place of a path tells most ---- */

/* Whether another path agrees up to `level`, and then has another caller. */
static bool has_other_callers(const struct places *places, const struct chain *chain,
		unsigned level)
{
	for (unsigned table = 0; table < places->tables; table++)
		for (uint32_t path = 0; path < places->sites[table]->paths.count; path++) {
			const struct chain *other = &places->chain[table][path];

			if (other->count > level + 1 &&
					memcmp(other->named, chain->named,
							(level + 1) * sizeof(chain->named[0])) ==
							0 &&
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

static void tell_level(const struct places *places, struct chain *chain)
{
	if (!chain->level)
		chain->level = (uint16_t)telling_level(places, chain);
}

/* Once all are named, for it depends on the others. */
static void tell_levels(const struct places *places, unsigned table)
{
	const struct site_table *sites = places->sites[table];

	for (unsigned i = 0; i <= sites->spans; i++)
		if (sites->span[i].used) {
			tell_level(places, chain_of(places, table, sites->span[i].from));
			tell_level(places, chain_of(places, table, sites->span[i].to));
		}
}

struct places *places_new(const struct site_table *const *sites, unsigned tables,
		struct source *source)
{
	struct places *places = calloc(1, sizeof(*places));
	bool room = places != NULL;

	if (room)
		places->chain = calloc(tables + 1, sizeof(*places->chain));
	room = room && places->chain;
	for (unsigned table = 0; table < tables && room; table++) {
		places->chain[table] = calloc(sites[table]->paths.count + 1,
				sizeof(*places->chain[table]));
		room = places->chain[table] != NULL;
		places->tables += room;
	}
	if (!room) {
		places_free(places);
		return NULL;
	}
	places->sites = sites;
	places->source = source;
	for (unsigned table = 0; table < tables && source; table++)
		name_table(places, table);
	for (unsigned table = 0; table < tables && source; table++)
		tell_levels(places, table);
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
	for (unsigned table = 0; table < places->tables; table++)
		free(places->chain[table]);
	free(places->chain);
	free(places);
}

/* ---- the report's part ---- */

/* Bursts between the same two places, of all threads. */
struct stretch {
	struct end {
		const struct chain *chain;
		unsigned call; /* enum runtime_call */
	} from, to;
	double ticks;
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

static struct end end_of(const struct places *places, unsigned table, unsigned site)
{
	/* number 0 stands for sites that found no room, of any call */
	unsigned call = site ? places->sites[table]->site[site].call : RUNTIME_CALLS;

	return (struct end){ chain_of(places, table, site), call };
}

/* Adds "from", "from_call", "from_function", "from_path" for an end of a stretch, or those of "to". */
static json_t *add_end(const struct places *places, json_t *pair, const char *key,
		const struct end *end)
{
	const struct chain *chain = end->chain;
	static const struct named unknown = { (char *)"", (char *)"?", false };
	const struct named *telling =
			chain->count ? &places->named[chain->named[chain->level]] : &unknown;
	json_t *path = json_array();
	char name[32];

	for (unsigned i = 0; i < chain->count; i++) {
		const struct named *named = &places->named[chain->named[i]];

		path = document_append(path,
				json_pack("{s:o,s:o}", "function", document_text(named->function),
						"position", document_text(named->position)));
	}
	pair = document_set(pair, key, document_text(telling->position));
	snprintf(name, sizeof(name), "%s_call", key);
	pair = document_set(pair, name, json_string(runtime_call_name(end->call)));
	snprintf(name, sizeof(name), "%s_function", key);
	pair = document_set(pair, name, document_text(telling->function));
	snprintf(name, sizeof(name), "%s_path", key);
	return document_set(pair, name, path);
}

static int by_ticks(const void *a, const void *b)
{
	double x = ((const struct stretch *)a)->ticks, y = ((const struct stretch *)b)->ticks;

	return (x < y) - (x > y);
}

/* Time of the span's bursts that were classified into the phase. */
static double ticks_in(const struct span *span, const struct prototype_table *table, uint32_t phase)
{
	double ticks = 0;

	for (unsigned l = 0; l < span->lengths; l++)
		for (unsigned i = 0; i < SPAN_SHARES_MAX; i++) {
			const struct span_share *share = &span->length[l].share[i];

			if (share->prototype < table->count &&
					table->all[share->prototype].phase == phase)
				ticks += span_share_ticks(share);
		}
	return ticks;
}

/* Adds to the stretch between the same places, or begins one; what finds no room is left out. */
static unsigned add_stretch(struct stretch *stretches, unsigned count, const struct stretch *more)
{
	for (unsigned i = 0; i < count; i++) {
		struct stretch *stretch = &stretches[i];

		if (same_end(&stretch->from, &more->from) && same_end(&stretch->to, &more->to)) {
			stretch->ticks += more->ticks;
			return count;
		}
	}
	if (count < STRETCHES_MAX)
		stretches[count++] = *more;
	return count;
}

json_t *places_of_phase(struct places *places, const struct prototype_table *table, uint32_t phase)
{
	struct stretch stretches[STRETCHES_MAX];
	json_t *list = json_array();
	unsigned count = 0;
	double all = 0;

	for (unsigned t = 0; t < places->tables; t++)
		for (unsigned i = 0; i <= places->sites[t]->spans; i++) {
			const struct span *span = &places->sites[t]->span[i];
			double ticks = ticks_in(span, table, phase);
			struct stretch stretch;

			if (ticks <= 0)
				continue;
			stretch = (struct stretch){ end_of(places, t, span->from),
				end_of(places, t, span->to), ticks };
			count = add_stretch(stretches, count, &stretch);
			all += ticks;
		}
	qsort(stretches, count, sizeof(*stretches), by_ticks);
	for (unsigned i = 0; i < count && i < PAIRS_MAX; i++) {
		json_t *pair = json_object();

		pair = add_end(places, pair, "from", &stretches[i].from);
		pair = add_end(places, pair, "to", &stretches[i].to);
		pair = document_set(pair, "share", json_real(stretches[i].ticks / all));
		list = document_append(list, pair);
	}
	return list;
}
