#include "agent/places.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS_MAX 4 /* named per phase */
#define CHAIN_MAX (2 * PATH_FRAMES_MAX)
#define NAMED_MAX (PATHS_MAX * 4)

/* A place with a name; those of equal names are one. */
struct named {
	char *function, *position;
	bool interpreter; /* what it runs has no names that we know */
};

/* The places of a call path, innermost first, by their numbers. */
struct chain {
	unsigned count;
	uint16_t named[CHAIN_MAX];
};

struct places {
	const struct site_table *sites;
	struct source *source;
	unsigned count;
	struct named named[NAMED_MAX];
	struct chain chain[PATHS_MAX]; /* of the paths that a site uses */
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

static void name_path(struct places *places, unsigned number)
{
	const struct path *path = &places->sites->paths.path[number];
	struct chain *chain = &places->chain[number];

	for (unsigned i = 0; i < path->frames && i < PATH_FRAMES_MAX; i++) {
		struct source_place found[SOURCE_PLACES_MAX];
		unsigned count =
			source_find(places->source, path->address[i], found, SOURCE_PLACES_MAX);

		/* who calls main is of no interest */
		if (i && strncmp(found[0].module, "libc.so", 7) == 0)
			return;
		for (unsigned k = 0; k < count && chain->count < CHAIN_MAX; k++) {
			unsigned named = intern(places, &found[k]);

			if (named == NAMED_MAX)
				return;
			chain->named[chain->count++] = (uint16_t)named;
		}
	}
}

struct places *places_new(const struct site_table *sites, struct source *source)
{
	struct places *places = calloc(1, sizeof(*places));

	if (!places)
		return NULL;
	places->sites = sites;
	places->source = source;
	for (unsigned i = 0; i < SITES_MAX && source; i++) {
		unsigned path = sites->site[i].path;

		if (sites->site[i].used && path < PATHS_MAX && !places->chain[path].count)
			name_path(places, path);
	}
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

/* ---- which place of a path tells most ---- */

/* Whether another path agrees up to `level`, and then has another caller. */
static bool has_other_callers(
	const struct places *places, const struct chain *chain, unsigned level)
{
	for (unsigned i = 0; i < PATHS_MAX; i++) {
		const struct chain *other = &places->chain[i];

		if (other->count > level + 1 &&
			memcmp(other->named, chain->named, (level + 1) * sizeof(chain->named[0])) ==
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

/* ---- the report's part ---- */

/* Names come from files that may hold anything; JSON is UTF-8. */
static json_t *text(const char *name)
{
	json_t *string = json_string(name);

	return string ? string : json_string("?");
}

/* Adds "from", "from_function", "from_path" for one end of a pair, or the same of "to". */
static void add_end(const struct places *places, json_t *pair, const char *key, unsigned site)
{
	const struct chain *chain = &places->chain[places->sites->site[site].path];
	static const struct named unknown = { (char *)"", (char *)"?", false };
	const struct named *telling = &unknown;
	json_t *path = json_array();
	char name[32];

	if (chain->count)
		telling = &places->named[chain->named[telling_level(places, chain)]];
	for (unsigned i = 0; i < chain->count; i++) {
		const struct named *named = &places->named[chain->named[i]];

		json_array_append_new(
			path, json_pack("{s:o,s:o}", "function", text(named->function), "position",
				      text(named->position)));
	}
	json_object_set_new(pair, key, text(telling->position));
	snprintf(name, sizeof(name), "%s_function", key);
	json_object_set_new(pair, name, text(telling->function));
	snprintf(name, sizeof(name), "%s_path", key);
	json_object_set_new(pair, name, path);
}

struct span_time {
	const struct span *span;
	double ticks;
};

static int by_ticks(const void *a, const void *b)
{
	double x = ((const struct span_time *)a)->ticks, y = ((const struct span_time *)b)->ticks;

	return (x < y) - (x > y);
}

/* Time of the span's bursts that were classified into the phase. */
static double ticks_in(const struct span *span, const struct prototype_table *table, uint32_t phase)
{
	double ticks = 0;

	for (unsigned i = 0; i < SPAN_SHARES_MAX && span->share[i].read; i++) {
		uint32_t prototype = span->share[i].prototype;

		if (prototype < table->count && table->all[prototype].phase == phase)
			ticks += span->share[i].ticks + span->share[i].unread_ticks;
	}
	return ticks;
}

json_t *places_of_phase(struct places *places, const struct prototype_table *table, uint32_t phase)
{
	struct span_time times[SPANS_MAX];
	json_t *list = json_array();
	unsigned count = 0;
	double all = 0;

	for (unsigned i = 0; i < SPANS_MAX; i++) {
		const struct span *span = &places->sites->span[i];

		times[count] = (struct span_time){ span, ticks_in(span, table, phase) };
		all += times[count].ticks;
		count += times[count].ticks > 0;
	}
	qsort(times, count, sizeof(*times), by_ticks);
	for (unsigned i = 0; i < count && i < PAIRS_MAX; i++) {
		json_t *pair = json_object();

		add_end(places, pair, "from", times[i].span->from);
		add_end(places, pair, "to", times[i].span->to);
		json_object_set_new(pair, "share", json_real(times[i].ticks / all));
		json_array_append_new(list, pair);
	}
	return list;
}
