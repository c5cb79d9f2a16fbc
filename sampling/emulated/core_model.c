/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/emulated/core_model.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREDICTOR_BITS 14 /* log2 of the number of two-bit counters */
#define HISTORY_BITS   12 /* number of past branches that the predictor knows */
#define TARGETS        512
#define RETURNS        16

static const struct core_spec specs[] = {
	{
			.name = "out-of-order",
			.title = "4 wide, out of order, 32 KiB L1d, 512 KiB L2, 2 MiB of L3",
			.width = 4,
			.cache = { { 64, 8, false }, { 1024, 8, true }, { 2048, 16, true } },
			.cost = { [CORE_BRANCH] = 1600,
					[CORE_L2] = 300,
					[CORE_L3] = 1600,
					[CORE_MEMORY] = 8000,
					[CORE_FLOAT] = 50,
					[CORE_DIVIDE] = 500 },
	},
	{
			.name = "in-order",
			.title = "2 wide, in order, 32 KiB L1d, 256 KiB L2, no L3",
			.width = 2,
			.cache = { { 128, 4, false }, { 512, 8, true }, { 0, 0, false } },
			.cost = { [CORE_BRANCH] = 800,
					[CORE_L2] = 900,
					[CORE_L3] = 0,
					[CORE_MEMORY] = 15000,
					[CORE_FLOAT] = 200,
					[CORE_DIVIDE] = 2000 },
	},
};

const struct core_size core_sizes[CORE_SIZES] = {
	{ CORE_MISSES_HALF, 1 },
	{ CORE_L3_MISSES, 2 },
	{ CORE_MISSES_2, 4 },
	{ CORE_MISSES_4, 8 },
	{ CORE_MISSES_8, 16 },
	{ CORE_MISSES_16, 32 },
};

/* A set-associative cache, whose least recently used line leaves. 0 marks a free place. */
struct cache {
	uint32_t sets, ways;
	uint32_t depth; /* number of lines of a set that are known: its ways, or those of the largest size */
	bool hashed;
	uint64_t *lines; /* the lines of a set side by side, the most recently used first */
};

struct core {
	struct core_counts *counts;
	struct cache cache[3];
	struct cache *sized; /* the cache whose sizes are followed; NULL: none */
	uint32_t history;
	uint8_t counter[1 << PREDICTOR_BITS]; /* 0, 1: not taken, 2, 3: taken */
	uint64_t target[TARGETS];             /* of indirect branches, by their addresses */
	uint64_t back[RETURNS];               /* a ring of the addresses that calls return to */
	unsigned calls;
};

unsigned core_spec_count(void)
{
	return sizeof(specs) / sizeof(*specs);
}

const struct core_spec *core_spec_of(unsigned index)
{
	return &specs[index];
}

int core_spec_find(const char *name)
{
	for (unsigned i = 0; i < core_spec_count(); i++)
		if (strcmp(specs[i].name, name) == 0)
			return (int)i;
	return -1;
}

unsigned core_last_level(const struct core_spec *spec)
{
	return spec->cache[2].sets ? 3 : 2;
}

uint64_t core_cache_bytes(const struct cache_spec *cache)
{
	return (uint64_t)cache->sets * cache->ways << CORE_LINE_BITS;
}

/* Gives a cache empty sets of `depth` lines. Returns 0 or -ENOMEM. */
static int cache_empty(struct cache *cache, uint32_t depth)
{
	free(cache->lines);
	cache->depth = depth;
	cache->lines = calloc((size_t)cache->sets * depth, sizeof(*cache->lines));
	return cache->lines ? 0 : -ENOMEM;
}

struct core *core_new(const struct core_spec *spec, struct core_counts *counts)
{
	struct core *core = calloc(1, sizeof(*core));

	if (!core)
		return NULL;
	core->counts = counts;
	for (unsigned level = 0; level < 3; level++) {
		struct cache *cache = &core->cache[level];
		const struct cache_spec *from = &spec->cache[level];

		if (!from->sets)
			continue;
		cache->sets = from->sets;
		cache->ways = from->ways;
		cache->hashed = from->hashed;
		if (cache_empty(cache, from->ways)) {
			core_free(core);
			return NULL;
		}
	}
	return core;
}

void core_free(struct core *core)
{
	if (!core)
		return;
	for (unsigned level = 0; level < 3; level++)
		free(core->cache[level].lines);
	free(core);
}

int core_follow_sizes(struct core *core)
{
	struct cache *last = &core->cache[core->cache[2].sets ? 2 : 1];
	int error = cache_empty(last, last->ways * core_sizes[CORE_SIZES - 1].halves / 2);

	core->sized = error ? NULL : last;
	return error;
}

/*
 * Looks a line up, and makes it the most recently used of its set. Returns how many lines of the set were used since it
 * was, or the depth if the line is not known.
 */
static inline uint32_t cache_touch(struct cache *cache, uint64_t line)
{
	uint64_t hash = cache->hashed ? line * UINT64_C(0x9e3779b97f4a7c15) >> 32 : line;
	uint64_t *set = cache->lines + (hash & (cache->sets - 1)) * cache->depth;
	uint32_t way = 0, place;

	while (way < cache->depth - 1 && set[way] != line)
		way++;
	place = set[way] == line ? way : cache->depth;
	for (; way > 0; way--)
		set[way] = set[way - 1];
	set[0] = line;
	return place;
}

/* Looks a line up that is not in the caches before. Returns whether the cache holds it. */
static bool cache_holds(struct core *core, struct cache *cache, uint64_t line)
{
	uint32_t place;

	if (!cache->sets)
		return false;
	place = cache_touch(cache, line);
	if (cache == core->sized)
		for (unsigned i = 0; i < CORE_SIZES; i++)
			if (core_sizes[i].misses != CORE_L3_MISSES &&
					place >= cache->ways * core_sizes[i].halves / 2)
				core_add(core->counts, core_sizes[i].misses, 1);
	return place < cache->ways;
}

/* Follows an access that the level 1 cache does not hold. */
static __attribute__((noinline)) void miss(struct core *core, uint64_t line)
{
	core_add(core->counts, CORE_L1_MISSES, 1);
	if (cache_holds(core, &core->cache[1], line))
		return;
	core_add(core->counts, CORE_L2_MISSES, 1);
	if (cache_holds(core, &core->cache[2], line))
		return;
	core_add(core->counts, CORE_L3_MISSES, 1);
}

static inline void touch(struct core *core, uint64_t address)
{
	uint64_t line = (address >> CORE_LINE_BITS) + 1; /* 0 marks a free place */
	struct cache *first = &core->cache[0];

	/* most accesses are to the line of the access before them in this set */
	if (first->lines[(line & (first->sets - 1)) * first->depth] != line &&
			cache_touch(first, line) == first->depth)
		miss(core, line);
}

void core_load(struct core *core, uint64_t address)
{
	core_add(core->counts, CORE_LOADS, 1);
	touch(core, address);
}

void core_store(struct core *core, uint64_t address)
{
	core_add(core->counts, CORE_STORES, 1);
	touch(core, address);
}

static void count_branch(struct core *core, bool predicted)
{
	core_add(core->counts, CORE_BRANCHES, 1);
	if (!predicted)
		core_add(core->counts, CORE_MISPREDICTED, 1);
}

/*
 * gshare: a two-bit counter is chosen by the address and the outcomes of the branches before (McFarling 1993).
 */
void core_branch(struct core *core, uint64_t address, bool taken)
{
	uint32_t mix = (uint32_t)(address ^ address >> PREDICTOR_BITS);
	uint32_t index = (mix ^ core->history << (PREDICTOR_BITS - HISTORY_BITS)) &
			((1 << PREDICTOR_BITS) - 1);
	uint8_t *counter = &core->counter[index];

	count_branch(core, (*counter >= 2) == taken);
	if (taken && *counter < 3)
		++*counter;
	if (!taken && *counter > 0)
		--*counter;
	core->history = (core->history << 1 | taken) & ((1 << HISTORY_BITS) - 1);
}

void core_call(struct core *core, uint64_t back)
{
	core->back[core->calls++ % RETURNS] = back;
	count_branch(core, true);
}

void core_return(struct core *core, uint64_t target)
{
	count_branch(core, core->back[--core->calls % RETURNS] == target);
}

void core_indirect(struct core *core, uint64_t address, uint64_t target)
{
	uint64_t *predicted = &core->target[(address ^ address >> 9) % TARGETS];

	count_branch(core, *predicted == target);
	*predicted = target;
}

uint64_t core_cycles(const struct core_spec *spec, const uint64_t count[CORE_COUNTS],
		enum core_part part)
{
	uint64_t events = 0;

	switch (part) {
	case CORE_BASE:
		return count[CORE_INSTRUCTIONS] / spec->width;
	case CORE_BRANCH:
		events = count[CORE_MISPREDICTED];
		break;
	case CORE_L2:
		events = count[CORE_L1_MISSES] - count[CORE_L2_MISSES];
		break;
	case CORE_L3:
		events = count[CORE_L2_MISSES] - count[CORE_L3_MISSES];
		break;
	case CORE_MEMORY:
		events = count[CORE_L3_MISSES];
		break;
	case CORE_FLOAT:
		events = count[CORE_FLOATING];
		break;
	case CORE_DIVIDE:
		events = count[CORE_DIVISIONS];
		break;
	case CORE_PARTS:
		break;
	}
	return events * spec->cost[part] / 100;
}

uint64_t core_cycles_all(const struct core_spec *spec, const uint64_t count[CORE_COUNTS])
{
	uint64_t cycles = 0;

	for (unsigned part = 0; part < CORE_PARTS; part++)
		cycles += core_cycles(spec, count, (enum core_part)part);
	return cycles;
}

void core_totals(const struct core_spec *spec, const uint64_t count[CORE_COUNTS],
		uint64_t totals[CORE_TOTALS])
{
	uint64_t *cycles = totals + CORE_COUNTS;

	memcpy(totals, count, CORE_COUNTS * sizeof(*totals));
	cycles[CORE_PARTS] = 0;
	for (unsigned part = 0; part < CORE_PARTS; part++) {
		cycles[part] = core_cycles(spec, count, (enum core_part)part);
		cycles[CORE_PARTS] += cycles[part];
	}
}
