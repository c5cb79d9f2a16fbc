/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/profile.h"

#include <stdlib.h>
#include <string.h>

#include "agent/host/hash.h"

#define WAYS 8 /* number of entries among which an address has its place */

void profile_add(struct profile *profile, uintptr_t address, uint32_t prototype, uint32_t samples)
{
	uint64_t hash = hash_spread(address ^ (uint64_t)prototype << 48);
	size_t set = (size_t)(hash >> 32) % (PROFILE_ENTRIES / WAYS) * WAYS;
	struct profile_entry *least = &profile->entry[set];

	for (size_t i = set; i < set + WAYS; i++) {
		struct profile_entry *entry = &profile->entry[i];

		if (entry->address == address && entry->prototype == prototype) {
			entry->samples += samples;
			return;
		}
		if (entry->samples < least->samples)
			least = entry;
	}
	/* a free entry has no samples */
	least->address = address;
	least->prototype = prototype;
	least->samples += samples;
}

/* ---- of several processes ---- */

static int by_place(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->place != y->place)
		return (x->place > y->place) - (x->place < y->place);
	return (x->prototype > y->prototype) - (x->prototype < y->prototype);
}

static int by_samples(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->samples != y->samples)
		return (x->samples < y->samples) - (x->samples > y->samples);
	return by_place(a, b);
}

static void add_samples(uint32_t *samples, uint32_t more)
{
	*samples = *samples < UINT32_MAX - more ? *samples + more : UINT32_MAX;
}

/* Joins equal places, and keeps those with the most samples. */
static void settle_places(struct profile_total *total, struct profile_place *places, size_t count)
{
	size_t kept = 0;

	qsort(places, count, sizeof(*places), by_place);
	for (size_t i = 0; i < count; i++) {
		if (kept && by_place(&places[kept - 1], &places[i]) == 0)
			add_samples(&places[kept - 1].samples, places[i].samples);
		else
			places[kept++] = places[i];
	}
	if (kept > PROFILE_PLACES)
		qsort(places, kept, sizeof(*places), by_samples);
	total->places = (uint32_t)(kept < PROFILE_PLACES ? kept : PROFILE_PLACES);
	memcpy(total->place, places, total->places * sizeof(*places));
}

void profile_share(const struct profile *profile, const struct module *modules, unsigned count,
		struct profile_total *total)
{
	struct profile_place *places = malloc((PROFILE_PLACES + PROFILE_ENTRIES) * sizeof(*places));
	size_t all = total->places;

	if (!places)
		return;
	memcpy(places, total->place, all * sizeof(*places));
	for (size_t i = 0; i < PROFILE_ENTRIES; i++) {
		const struct profile_entry *entry = &profile->entry[i];

		if (entry->address)
			places[all++] = (struct profile_place){
				place_files_note(&total->files, entry->address, modules, count),
				entry->prototype, entry->samples
			};
	}
	settle_places(total, places, all);
	free(places);
}

static void merge_places(const struct profile_total *from, struct profile_total *into)
{
	struct profile_place *places = malloc(2 * PROFILE_PLACES * sizeof(*places));

	if (!places)
		return;
	memcpy(places, into->place, into->places * sizeof(*places));
	memcpy(places + into->places, from->place, from->places * sizeof(*places));
	settle_places(into, places, into->places + from->places);
	free(places);
}

void profile_merge(const void *in, void *inout)
{
	const struct profile_total *from = in;
	struct profile_total *into = inout;

	place_files_merge(&from->files, &into->files);
	merge_places(from, into);
	routes_merge(&from->routes, &into->routes);
}

unsigned profile_restore(struct profile_total *total, struct module *modules, unsigned count,
		unsigned max, struct profile *profile)
{
	struct place_modules here = { modules, count, count, max };

	/* a place in no known file has an address, too */
	for (uint32_t i = 0; i < total->places; i++)
		profile_add(profile,
				place_files_address(&total->files, total->place[i].place, &here),
				total->place[i].prototype, total->place[i].samples);
	routes_restore(&total->routes, &total->files, &here);
	return here.count;
}
