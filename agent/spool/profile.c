/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/profile.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/hash.h"

#define WAYS 8 /* number of entries among which an address has its place */

#define GATHERED_NODES (4 * STACK_TREE_NODES) /* for the stacks of three profiles */

static bool same_key(struct profile_key x, struct profile_key y)
{
	return x.prototype == y.prototype && x.stack == y.stack;
}

void profile_add(struct profile *profile, uintptr_t address, struct profile_key key,
		uint32_t samples)
{
	uint64_t hash = hash_spread(
			address ^ (uint64_t)key.prototype << 48 ^ (uint64_t)key.stack << 32);
	size_t set = (size_t)(hash >> 32) % (PROFILE_ENTRIES / WAYS) * WAYS;
	struct profile_entry *least = &profile->entry[set];

	for (size_t i = set; i < set + WAYS; i++) {
		struct profile_entry *entry = &profile->entry[i];

		if (entry->address == address && same_key(entry->key, key)) {
			entry->samples += samples;
			return;
		}
		if (entry->samples < least->samples)
			least = entry;
	}
	/* a free entry has no samples */
	least->address = address;
	least->key = key;
	least->samples += samples;
}

/* ---- of several processes ---- */

static int by_place(const void *a, const void *b)
{
	const struct profile_place *x = a, *y = b;

	if (x->place != y->place)
		return (x->place > y->place) - (x->place < y->place);
	if (x->key.prototype != y->key.prototype)
		return (int)x->key.prototype - (int)y->key.prototype;
	return (int)x->key.stack - (int)y->key.stack;
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

/* Places of several profiles, which share a tree of stacks with room for all of them. */
struct gathered {
	size_t count;
	struct stack_node stack[GATHERED_NODES];
	struct profile_place place[2 * PROFILE_PLACES + PROFILE_ENTRIES];
};

/* Takes all places out of a total, which keeps its files and the rest. */
static void gather_total(struct gathered *gathered, const struct profile_total *total)
{
	uint64_t frames[STACK_FRAMES_MAX];
	uint16_t above;

	for (uint32_t i = 0; i < total->places; i++) {
		struct profile_place *place = &gathered->place[gathered->count++];
		unsigned count = stack_tree_list(total->stack, STACK_TREE_NODES,
				total->place[i].key.stack, frames, &above);

		*place = total->place[i];
		place->key.stack = count ? stack_tree_add(gathered->stack, GATHERED_NODES, frames,
							   count, above == STACK_DEEPER) :
					   above;
	}
}

/* Joins equal places. */
static void join_places(struct gathered *gathered)
{
	size_t kept = 0;

	qsort(gathered->place, gathered->count, sizeof(gathered->place[0]), by_place);
	for (size_t i = 0; i < gathered->count; i++) {
		struct profile_place *place = &gathered->place[i];

		if (kept && by_place(&gathered->place[kept - 1], place) == 0)
			add_samples(&gathered->place[kept - 1].samples, place->samples);
		else
			gathered->place[kept++] = *place;
	}
	gathered->count = kept;
}

/* Makes the places of a total, and the stacks that they need, of those gathered with the most samples. */
static void settle_places(struct profile_total *total, struct gathered *gathered)
{
	uint64_t frames[STACK_FRAMES_MAX];
	uint16_t above;

	join_places(gathered);
	qsort(gathered->place, gathered->count, sizeof(gathered->place[0]), by_samples);
	memset(total->stack, 0, sizeof(total->stack));
	total->places = 0;
	for (size_t i = 0; i < gathered->count; i++) {
		struct profile_place *place = &gathered->place[i];
		unsigned count;

		if (total->places == PROFILE_PLACES) {
			if (place->key.prototype < PROTOTYPES_MAX)
				add_samples(&total->left_out[place->key.prototype], place->samples);
			continue;
		}
		count = stack_tree_list(gathered->stack, GATHERED_NODES, place->key.stack, frames,
				&above);
		place->key.stack = count ? stack_tree_add(total->stack, STACK_TREE_NODES, frames,
							   count, above == STACK_DEEPER) :
					   above;
		total->place[total->places++] = *place;
	}
}

/* Returns the number of an entry's stack in the tree of what is gathered, where addresses are places. */
static uint16_t place_stack(const struct profile *profile, const struct profile_entry *entry,
		struct gathered *gathered, struct place_files *files, const struct module *modules,
		unsigned modules_count)
{
	uint64_t frames[STACK_FRAMES_MAX];
	uint16_t above;
	unsigned count = stack_tree_list(profile->stack, STACK_TREE_NODES, entry->key.stack, frames,
			&above);

	for (unsigned i = 0; i < count; i++) {
		/* the call is before the address that it returns to */
		uint64_t place = place_files_note(files, frames[i] - 1, modules, modules_count);

		if (!place) {
			count = i;
			above = STACK_NONE;
			break;
		}
		frames[i] = place + 1;
	}
	return count ? stack_tree_add(gathered->stack, GATHERED_NODES, frames, count,
				       above == STACK_DEEPER) :
		       above;
}

void profile_share(const struct profile *profile, const struct module *modules, unsigned count,
		struct profile_total *total)
{
	struct gathered *gathered = calloc(1, sizeof(*gathered));

	if (!gathered)
		return;
	gather_total(gathered, total);
	for (size_t i = 0; i < PROFILE_ENTRIES; i++) {
		const struct profile_entry *entry = &profile->entry[i];

		if (entry->address)
			gathered->place[gathered->count++] = (struct profile_place){
				place_files_note(&total->files, entry->address, modules, count),
				{ entry->key.prototype,
						place_stack(profile, entry, gathered, &total->files,
								modules, count) },
				entry->samples
			};
	}
	settle_places(total, gathered);
	free(gathered);
}

static void merge_places(const struct profile_total *from, struct profile_total *into)
{
	struct gathered *gathered = calloc(1, sizeof(*gathered));

	if (!gathered)
		return;
	gather_total(gathered, into);
	gather_total(gathered, from);
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
		add_samples(&into->left_out[p], from->left_out[p]);
	settle_places(into, gathered);
	free(gathered);
}

void profile_merge(const void *in, void *inout)
{
	const struct profile_total *from = in;
	struct profile_total *into = inout;

	place_files_merge(&from->files, &into->files);
	merge_places(from, into);
	routes_merge(&from->routes, &into->routes);
}

/* Returns the number of a total's stack in the tree of the profile, where places are addresses. */
static uint16_t restore_stack(const struct profile_total *total, uint16_t stack,
		struct place_modules *here, struct profile *profile)
{
	uint64_t frames[STACK_FRAMES_MAX];
	uint16_t above;
	unsigned count = stack_tree_list(total->stack, STACK_TREE_NODES, stack, frames, &above);

	for (unsigned i = 0; i < count; i++)
		frames[i] = place_files_address(&total->files, frames[i] - 1, here) + 1;
	return count ? stack_tree_add(profile->stack, STACK_TREE_NODES, frames, count,
				       above == STACK_DEEPER) :
		       above;
}

unsigned profile_restore(struct profile_total *total, struct module *modules, unsigned count,
		unsigned max, struct profile *profile)
{
	struct place_modules here = { modules, count, count, max };

	/* a place in no known file has an address, too */
	for (uint32_t i = 0; i < total->places; i++) {
		const struct profile_place *place = &total->place[i];

		profile_add(profile, place_files_address(&total->files, place->place, &here),
				(struct profile_key){ place->key.prototype,
						restore_stack(total, place->key.stack, &here,
								profile) },
				place->samples);
	}
	memcpy(profile->left_out, total->left_out, sizeof(profile->left_out));
	routes_restore(&total->routes, &total->files, &here);
	return here.count;
}
