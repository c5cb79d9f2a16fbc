#include "agent/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WAYS 8 /* an address has a place among so many */

#define OFFSET_BITS 40
#define OFFSET_MASK ((UINT64_C(1) << OFFSET_BITS) - 1)

/* Nothing is loaded there; each file of others has as much as a place can tell. */
#define ELSEWHERE(file) ((UINT64_C(1) << 62) + ((uint64_t)(file) << (OFFSET_BITS + 1)))

void profile_add(struct profile *profile, uintptr_t address, uint32_t prototype, uint32_t samples)
{
	uint64_t hash = (address ^ (uint64_t)prototype << 48) * 0x9e3779b97f4a7c15u;
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
	/* a free one has no samples */
	least->address = address;
	least->prototype = prototype;
	least->samples += samples;
}

/* ---- of several processes ---- */

/* FNV-1a, of 24 bits; never 0. */
static uint32_t number_of(const char *path)
{
	uint32_t hash = 2166136261u;

	while (*path)
		hash = (hash ^ (unsigned char)*path++) * 16777619u;
	hash = (hash ^ hash >> 24) & 0xffffff;
	return hash ? hash : 1;
}

static void note_file(struct profile_total *total, uint32_t number, const char *path)
{
	struct profile_file *file = &total->file[total->files];

	for (uint32_t i = 0; i < total->files; i++)
		if (total->file[i].number == number)
			return;
	if (total->files == PROFILE_FILES)
		return;
	file->number = number;
	if (snprintf(file->path, sizeof(file->path), "%s", path) >= (int)sizeof(file->path))
		file->path[0] = '\0';
	total->files++;
}

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

/* Equal places become one; those with the most samples stay. */
static void settle(struct profile_total *total, struct profile_place *places, size_t count)
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

static uint64_t place_of(uintptr_t address, const struct source_module *modules, unsigned count,
		struct profile_total *total)
{
	for (unsigned i = 0; i < count; i++)
		if (address >= modules[i].begin && address < modules[i].end) {
			uint32_t number = number_of(modules[i].path);

			note_file(total, number, modules[i].path);
			return (uint64_t)number << OFFSET_BITS |
					((address - modules[i].base) & OFFSET_MASK);
		}
	return 0;
}

void profile_share(const struct profile *profile, const struct source_module *modules,
		unsigned count, struct profile_total *total)
{
	struct profile_place *places = malloc((PROFILE_PLACES + PROFILE_ENTRIES) * sizeof(*places));
	size_t all = total->places;

	if (!places)
		return;
	memcpy(places, total->place, all * sizeof(*places));
	for (size_t i = 0; i < PROFILE_ENTRIES; i++) {
		const struct profile_entry *entry = &profile->entry[i];

		if (entry->address)
			places[all++] = (struct profile_place){ place_of(entry->address, modules,
										count, total),
				entry->prototype, entry->samples };
	}
	settle(total, places, all);
	free(places);
}

void profile_merge(const void *in, void *inout)
{
	const struct profile_total *from = in;
	struct profile_total *into = inout;
	struct profile_place *places = malloc(2 * PROFILE_PLACES * sizeof(*places));

	if (!places)
		return;
	for (uint32_t i = 0; i < from->files; i++)
		note_file(into, from->file[i].number, from->file[i].path);
	memcpy(places, into->place, into->places * sizeof(*places));
	memcpy(places + into->places, from->place, from->places * sizeof(*places));
	settle(into, places, into->places + from->places);
	free(places);
}

/* The module of that number: of the first `own`, or one that is appended; max: there is none. */
static unsigned find_module(const struct profile_total *total, uint32_t number,
		struct source_module *modules, unsigned own, unsigned *count, unsigned max)
{
	const struct profile_file *file = total->file;
	struct source_module *module = &modules[*count];

	for (unsigned i = 0; i < own; i++)
		if (number_of(modules[i].path) == number)
			return i;
	while (file < total->file + total->files && file->number != number)
		file++;
	if (file == total->file + total->files || !*file->path)
		return max;
	for (unsigned i = own; i < *count; i++)
		if (strcmp(modules[i].path, file->path) == 0)
			return i;
	if (*count == max)
		return max;
	module->base = module->begin = (uintptr_t)ELSEWHERE(*count - own);
	module->end = module->base + OFFSET_MASK;
	snprintf(module->path, sizeof(module->path), "%s", file->path);
	return (*count)++;
}

unsigned profile_restore(const struct profile_total *total, struct source_module *modules,
		unsigned count, unsigned max, struct profile *profile)
{
	unsigned own = count;

	for (uint32_t i = 0; i < total->places; i++) {
		const struct profile_place *place = &total->place[i];
		uint32_t number = (uint32_t)(place->place >> OFFSET_BITS);
		unsigned module = number ? find_module(total, number, modules, own, &count, max) :
					   max;
		/* in no file, or in one that is not known: an address all the same */
		uintptr_t address = module < max ?
				modules[module].base + (place->place & OFFSET_MASK) :
				1;

		profile_add(profile, address, place->prototype, place->samples);
	}
	return count;
}
