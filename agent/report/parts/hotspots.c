/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/parts/hotspots.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/parts/document.h"

#define NAMED_MAX 256 /* addresses that are looked up per phase, because naming takes long */
#define SHOWN_MAX 8

struct hotspot {
	char function[sizeof(((struct source_place *)0)->function)];
	char position[sizeof(((struct source_place *)0)->file) + 32];
	uint32_t samples;
};

struct hotspots {
	unsigned count;
	struct hotspot spot[NAMED_MAX];
};

static int by_samples(const void *a, const void *b)
{
	uint32_t x = ((const struct profile_entry *)a)->samples;
	uint32_t y = ((const struct profile_entry *)b)->samples;

	return (x < y) - (x > y);
}

static int by_heat(const void *a, const void *b)
{
	uint32_t x = ((const struct hotspot *)a)->samples, y = ((const struct hotspot *)b)->samples;

	return (x < y) - (x > y);
}

/* Fills the phase's entries, which are by address, most samples first. Returns how many. */
static unsigned gather_samples(const struct profile *profile, const struct prototype_table *table,
		uint32_t phase, struct profile_entry *found)
{
	unsigned count = 0;

	for (unsigned i = 0; i < PROFILE_ENTRIES; i++) {
		const struct profile_entry *entry = &profile->entry[i];

		if (entry->address && entry->key.prototype < table->count &&
				table->all[entry->key.prototype].phase == phase)
			found[count++] = *entry;
	}
	qsort(found, count, sizeof(*found), by_samples);
	return count;
}

/* Adds samples of a function and a position. function "": a line alone. position "": a function alone. */
static void hotspots_add(struct hotspots *spots, const char *function, const char *position,
		uint32_t samples)
{
	struct hotspot *spot;

	for (unsigned i = 0; i < spots->count; i++)
		if (strcmp(spots->spot[i].function, function) == 0 &&
				strcmp(spots->spot[i].position, position) == 0) {
			spots->spot[i].samples += samples;
			return;
		}
	spot = &spots->spot[spots->count++];
	snprintf(spot->function, sizeof(spot->function), "%s", function);
	snprintf(spot->position, sizeof(spot->position), "%s", position);
	spot->samples = samples;
}

static void name(struct source *source, const struct profile_entry *entry,
		struct hotspots *functions, struct hotspots *lines)
{
	struct source_place places[SOURCE_PLACES_MAX];
	/* source_find takes return addresses, but a sample has the address of an instruction */
	unsigned count = source_find(source, entry->address + 1, places, SOURCE_PLACES_MAX);
	const struct source_place *function = &places[count - 1];
	char position[sizeof(places[0].file) + 32];

	hotspots_add(functions, *function->function ? function->function : function->module, "",
			entry->samples);
	if (!*places[0].file || !places[0].line)
		return;
	source_position(&places[0], position, sizeof(position));
	hotspots_add(lines, places[0].function, position, entry->samples);
}

static json_t *list(struct hotspots *spots, uint32_t samples, bool lines)
{
	json_t *array = json_array();

	qsort(spots->spot, spots->count, sizeof(spots->spot[0]), by_heat);
	for (unsigned i = 0; i < spots->count && i < SHOWN_MAX; i++) {
		json_t *row = json_pack("{s:o,s:o,s:I}", "function",
				document_text(spots->spot[i].function), "share",
				json_real((double)spots->spot[i].samples / samples), "samples",
				(json_int_t)spots->spot[i].samples);

		if (lines)
			row = document_set(row, "line", document_text(spots->spot[i].position));
		array = document_append(array, row);
	}
	return array;
}

json_t *hotspots_of_phase(const struct profile *profile, const struct prototype_table *table,
		uint32_t phase, struct source *source)
{
	/* malloc, because most of it is never touched */
	struct profile_entry *found = malloc(PROFILE_ENTRIES * sizeof(*found));
	struct hotspots *spots = malloc(2 * sizeof(*spots));
	uint64_t all = 0, named = 0;
	json_t *object = NULL;

	if (found && spots) {
		unsigned count = profile && source ? gather_samples(profile, table, phase, found) :
						     0;

		spots[0].count = spots[1].count = 0;
		for (unsigned i = 0; i < count; i++) {
			all += found[i].samples;
			if (i >= NAMED_MAX)
				continue;
			named += found[i].samples;
			name(source, &found[i], &spots[0], &spots[1]);
		}
		object = json_pack("{s:I,s:o,s:o}", "samples", (json_int_t)all, "functions",
				list(&spots[0], (uint32_t)named, false), "lines",
				list(&spots[1], (uint32_t)named, true));
	}
	free(spots);
	free(found);
	return object;
}
