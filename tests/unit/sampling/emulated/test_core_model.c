/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the modelled core: access patterns of known misses, predictable and random branches, and the sum of
 * cycles.
 */
#include <stdlib.h>

#include "sampling/emulated/core_model.h"
#include "tests/tap.h"

#define KIB UINT64_C(1024)

static struct core_counts counts;

static uint64_t count(enum core_count which)
{
	return atomic_load(&counts.count[which]);
}

static struct core *fresh(const char *name)
{
	memset(&counts, 0, sizeof(counts));
	return core_new(core_spec_of((unsigned)core_spec_find(name)), &counts);
}

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return *state >> 33;
}

/* Loads every 8th byte of a region, `times` times. */
static void walk(struct core *core, uint64_t bytes, uint64_t step, unsigned times)
{
	for (unsigned i = 0; i < times; i++)
		for (uint64_t at = 0; at < bytes; at += step)
			core_load(core, 0x10000000 + at);
}

static void test_walks(void)
{
	struct core *core = fresh("out-of-order");

	walk(core, 64 * KIB, 8, 1);
	is_int((long long)count(CORE_LOADS), 8192, "a sequential walk: every load is counted");
	is_int((long long)count(CORE_L1_MISSES), 1024, "and misses once in a line of 64 bytes");
	is_int((long long)count(CORE_L3_MISSES), 1024, "which comes from memory the first time");
	core_free(core);

	core = fresh("out-of-order");
	walk(core, 32 * KIB, 64, 10);
	is_int((long long)count(CORE_L1_MISSES), 512, "32 KiB fit into the L1 cache");
	core_free(core);

	core = fresh("out-of-order");
	walk(core, 33 * KIB, 64, 10);
	ok(count(CORE_L1_MISSES) > 512 + 9 * 9,
			"33 KiB do not: a set of nine lines misses each time");
	ok(count(CORE_L3_MISSES) == 33 * 16, "but come from memory only once");
	core_free(core);

	core = fresh("out-of-order");
	walk(core, 64 * 64 * 8, 4096, 100);
	is_int((long long)count(CORE_L1_MISSES), 8,
			"8 lines 4 KiB apart fit into the 8 ways of a set");
	walk(core, 64 * 64 * 9, 4096, 100);
	ok(count(CORE_L1_MISSES) > 800, "9 lines do not");
	core_free(core);
}

/* Returns the share of random loads in a working set that miss a cache, once it is warm. */
static double random_misses(uint64_t bytes, enum core_count which)
{
	struct core *core = fresh("out-of-order");
	uint64_t state = 1, before;

	walk(core, bytes, 64, 2);
	before = count(which);
	for (unsigned i = 0; i < 200000; i++)
		core_load(core, 0x10000000 + next_random(&state) % bytes);
	core_free(core);
	return (double)(count(which) - before) / 200000;
}

static void test_random(void)
{
	double misses = random_misses(64 * KIB, CORE_L1_MISSES);

	ok(misses > 0.45 && misses < 0.55, "random loads in twice the L1 cache: half miss (%.3f)",
			misses);
	misses = random_misses(128 * KIB, CORE_L2_MISSES);
	ok(misses < 0.001, "in a quarter of the L2 cache hardly any misses it (%.4f)", misses);
	misses = random_misses(16384 * KIB, CORE_L3_MISSES);
	ok(misses > 0.83 && misses < 0.92, "in eight times the L3 cache 7 of 8 miss it (%.3f)",
			misses);
}

/* ---- a peer of the L1 cache that notes when each line was used last ---- */

#define SETS 128
#define WAYS 4

struct peer {
	uint64_t line[SETS][WAYS], used[SETS][WAYS], now, misses;
};

static void peer_load(struct peer *peer, uint64_t address)
{
	uint64_t line = address / 64 + 1, *lines = peer->line[line % SETS];
	uint64_t *used = peer->used[line % SETS];
	unsigned oldest = 0;

	for (unsigned way = 0; way < WAYS; way++) {
		if (lines[way] == line) {
			used[way] = ++peer->now;
			return;
		}
		if (used[way] < used[oldest])
			oldest = way;
	}
	lines[oldest] = line;
	used[oldest] = ++peer->now;
	peer->misses++;
}

static void test_peer(void)
{
	struct core *core = fresh("in-order");
	struct peer *peer = calloc(1, sizeof(*peer));
	uint64_t state = 7, at = 0;

	for (unsigned i = 0; i < 300000; i++) {
		/* jumps, and short walks from there */
		at = i % 5 ? at + 24 : next_random(&state) % (48 * KIB);
		if (i % 3)
			core_load(core, at);
		else
			core_store(core, at);
		peer_load(peer, at);
	}
	is_int((long long)count(CORE_L1_MISSES), (long long)peer->misses,
			"the L1 cache misses as a peer by brute force does");
	is_int((long long)count(CORE_L3_MISSES), (long long)count(CORE_L2_MISSES),
			"a core without L3 gets from memory what L2 misses");
	free(peer);
	core_free(core);
}

/* ---- a peer of the last cache of each size, which gets what the cache before misses ---- */

#define SIZED_SETS 512
#define SIZED_WAYS 128

struct sized_peer {
	uint32_t ways;
	uint64_t line[SIZED_SETS][SIZED_WAYS], used[SIZED_SETS][SIZED_WAYS], now, misses;
};

static void sized_peer_load(struct sized_peer *peer, uint64_t address)
{
	uint64_t line = address / 64 + 1;
	unsigned set = (line * UINT64_C(0x9e3779b97f4a7c15) >> 32) % SIZED_SETS, oldest = 0;

	for (unsigned way = 0; way < peer->ways; way++) {
		if (peer->line[set][way] == line) {
			peer->used[set][way] = ++peer->now;
			return;
		}
		if (peer->used[set][way] < peer->used[set][oldest])
			oldest = way;
	}
	peer->line[set][oldest] = line;
	peer->used[set][oldest] = ++peer->now;
	peer->misses++;
}

static void test_sizes(void)
{
	struct core *core = fresh("in-order");
	struct sized_peer *peers = calloc(CORE_SIZES, sizeof(*peers));
	const struct core_spec *spec = core_spec_of((unsigned)core_spec_find("in-order"));
	uint64_t state = 11, at = 0, plain;

	is_int(core_last_level(spec), 2, "the last cache of a core without L3 is L2");
	is_int((long long)core_cache_bytes(&spec->cache[1]), 256 * KIB, "of 256 KiB");
	is_int(core_last_level(core_spec_of(0)), 3, "that of the other one is L3");
	is_int(core_follow_sizes(core), 0, "the sizes of the last cache are followed");
	for (unsigned i = 0; i < CORE_SIZES; i++)
		peers[i].ways = 8 * core_sizes[i].halves / 2;
	for (unsigned i = 0; i < 400000; i++) {
		uint64_t before = count(CORE_L1_MISSES);

		at = i % 5 ? at + 24 : next_random(&state) % (6144 * KIB);
		core_load(core, at);
		for (unsigned k = 0; k < CORE_SIZES && count(CORE_L1_MISSES) > before; k++)
			sized_peer_load(&peers[k], at);
	}
	for (unsigned i = 0; i < CORE_SIZES; i++)
		is_int((long long)count(core_sizes[i].misses), (long long)peers[i].misses,
				"a size misses as a peer by brute force of that size does");
	ok(count(CORE_MISSES_HALF) > count(CORE_L3_MISSES) &&
					count(CORE_MISSES_8) > count(CORE_MISSES_16),
			"larger caches miss less");
	plain = count(CORE_L3_MISSES);
	core_free(core);

	core = fresh("in-order");
	state = 11;
	at = 0;
	for (unsigned i = 0; i < 400000; i++) {
		at = i % 5 ? at + 24 : next_random(&state) % (6144 * KIB);
		core_load(core, at);
	}
	is_int((long long)count(CORE_L3_MISSES), (long long)plain,
			"the core itself misses as one whose sizes are not followed");
	is_int((long long)count(CORE_MISSES_2), 0, "which counts nothing of other sizes");
	core_free(core);
	free(peers);
}

static void test_branches(void)
{
	struct core *core = fresh("out-of-order");
	uint64_t state = 3;

	for (unsigned i = 0; i < 10000; i++)
		core_branch(core, 0x400100, i % 4 != 3);
	is_int((long long)count(CORE_BRANCHES), 10000, "branches are counted");
	ok(count(CORE_MISPREDICTED) < 100, "a loop of four is predicted (%d missed)",
			(int)count(CORE_MISPREDICTED));
	core_free(core);

	core = fresh("out-of-order");
	for (unsigned i = 0; i < 10000; i++)
		core_branch(core, 0x400100, next_random(&state) & 1);
	ok(count(CORE_MISPREDICTED) > 4500 && count(CORE_MISPREDICTED) < 5500,
			"of random branches half are mispredicted (%d)",
			(int)count(CORE_MISPREDICTED));
	core_free(core);

	core = fresh("out-of-order");
	for (unsigned i = 0; i < 1000; i++) {
		core_call(core, 0x1000 + i);
		core_call(core, 0x2000 + i);
		core_return(core, 0x2000 + i);
		core_return(core, 0x1000 + i);
		core_indirect(core, 0x3000, 0x4000 + (i >= 500));
	}
	is_int((long long)count(CORE_BRANCHES), 5000,
			"calls, returns and indirect jumps are branches");
	is_int((long long)count(CORE_MISPREDICTED), 2,
			"returns are predicted, and an indirect jump as the last time");
	core_free(core);
}

static void test_cycles(void)
{
	for (unsigned i = 0; i < core_spec_count(); i++) {
		const struct core_spec *spec = core_spec_of(i);
		uint64_t counted[CORE_COUNTS] = { [CORE_INSTRUCTIONS] = 1000003,
			[CORE_MISPREDICTED] = 77,
			[CORE_L1_MISSES] = 5001,
			[CORE_L2_MISSES] = 777,
			[CORE_L3_MISSES] = 111,
			[CORE_FLOATING] = 33333,
			[CORE_DIVISIONS] = 99 };
		uint64_t sum = 0;

		for (unsigned part = 0; part < CORE_PARTS; part++)
			sum += core_cycles(spec, counted, (enum core_part)part);
		is_int((long long)core_cycles_all(spec, counted), (long long)sum, spec->name);
		is_int((long long)core_cycles(spec, counted, CORE_BASE), 1000003 / spec->width,
				"the base is the width");
		is_int((long long)core_cycles(spec, counted, CORE_BRANCH),
				(long long)(77 * spec->cost[CORE_BRANCH] / 100),
				"each mispredicted branch costs the same");
		is_int(core_spec_find(spec->name), i, "the core is found by its name");
	}
	is_int(core_spec_find("nothing"), -1, "no other name is known");
}

int main(void)
{
	test_walks();
	test_random();
	test_peer();
	test_sizes();
	test_branches();
	test_cycles();
	return tap_done();
}
