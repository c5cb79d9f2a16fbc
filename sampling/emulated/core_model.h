/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A modelled processor core: what a program's instructions cost on it. It has caches, a branch predictor and
 * fixed costs for each kind of event. Cycles are the sum of what the events cost, so that the parts of a CPI
 * always sum to the CPI. docs/emulated.md has the sources of the parameters, and what is not modelled.
 *
 * A core belongs to one thread of a program. No two calls on one core may run together.
 */
#ifndef PHASEMUX_SAMPLING_EMULATED_CORE_MODEL_H
#define PHASEMUX_SAMPLING_EMULATED_CORE_MODEL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CORE_LINE_BITS 6 /* cache lines have 64 bytes */

/* What a core counts. */
enum core_count {
	CORE_INSTRUCTIONS,
	CORE_LOADS,
	CORE_STORES,
	CORE_BRANCHES,     /* jumps, calls and returns */
	CORE_MISPREDICTED, /* branches whose target was predicted wrongly */
	CORE_L1_MISSES,    /* loads and stores that the level 1 data cache does not hold */
	CORE_L2_MISSES,
	CORE_L3_MISSES, /* accesses to memory */
	CORE_FLOATING,  /* floating-point additions, multiplications and comparisons */
	CORE_DIVISIONS, /* divisions and square roots, of integers too */
	/* what the last cache would miss if it was as many times as large; 0 without core_follow_sizes() */
	CORE_MISSES_HALF,
	CORE_MISSES_2,
	CORE_MISSES_4,
	CORE_MISSES_8,
	CORE_MISSES_16,
	CORE_COUNTS
};

/* What cycles are spent on. */
enum core_part {
	CORE_BASE, /* issue of instructions, at the full width of the core */
	CORE_BRANCH,
	CORE_L2,     /* waits for data that the level 2 cache has */
	CORE_L3,     /* waits for data that the level 3 cache has */
	CORE_MEMORY, /* waits for data that no cache has */
	CORE_FLOAT,  /* waits for results of floating-point arithmetic */
	CORE_DIVIDE, /* waits for results of divisions */
	CORE_PARTS
};

/* Number of all totals of a core: its counts, the cycles of its parts, and all cycles. */
#define CORE_TOTALS (CORE_COUNTS + CORE_PARTS + 1)

struct cache_spec {
	uint32_t sets; /* a power of two; 0: the core does not have this cache */
	uint32_t ways;
	bool hashed; /* the set is chosen by a hash of the address, else by its lowest bits */
};

/* A core model. Costs are in hundredths of a cycle that an event adds to the time of the program. */
struct core_spec {
	const char *name, *title;
	uint32_t width; /* instructions issued in a cycle */
	struct cache_spec cache[3];
	uint32_t cost[CORE_PARTS]; /* of one event; that of CORE_BASE is unused */
};

/* A size of the last cache. */
struct core_size {
	enum core_count misses;
	uint32_t halves; /* it is as many halves of the model's own cache */
};

/* The sizes of the last cache whose misses are counted, the smallest first. */
#define CORE_SIZES 6
extern const struct core_size core_sizes[CORE_SIZES];

/* The counts of a core. Only its own thread writes them. Any thread may read them. */
struct core_counts {
	_Atomic uint64_t count[CORE_COUNTS];
};

struct core;

/* Returns the number of core models. */
unsigned core_spec_count(void);

/* Returns a core model by its number, which is below core_spec_count. */
const struct core_spec *core_spec_of(unsigned index);

/* Returns the number of the core model with this name, or -1. */
int core_spec_find(const char *name);

/* Returns a core with empty caches that adds to `counts`, which outlive it; NULL: no memory. */
struct core *core_new(const struct core_spec *spec, struct core_counts *counts);
void core_free(struct core *core);

/*
 * Counts from now on also what the last cache would miss if it was of another size. Its sets then are longer lists of
 * lines, by their last use: the place of a line says which sizes hold it (Mattson et al. 1970). Call before the first
 * access. Returns 0 or -ENOMEM.
 */
int core_follow_sizes(struct core *core);

/* Returns the level of a model's last cache: 2 or 3. */
unsigned core_last_level(const struct core_spec *spec);

/* Returns the bytes of a cache. */
uint64_t core_cache_bytes(const struct cache_spec *cache);

/* Counts `more` events of one kind. */
static inline void core_add(struct core_counts *counts, enum core_count which, uint64_t more)
{
	uint64_t count = atomic_load_explicit(&counts->count[which], memory_order_relaxed);

	atomic_store_explicit(&counts->count[which], count + more, memory_order_relaxed);
}

/* Counts a load or a store of data at an address, and follows it through the caches. */
void core_load(struct core *core, uint64_t address);
void core_store(struct core *core, uint64_t address);

/* Counts a conditional branch at `address`, and predicts it. */
void core_branch(struct core *core, uint64_t address, bool taken);

/* Counts a call. The return to `back` is predicted by it. */
void core_call(struct core *core, uint64_t back);

/* Counts a return to `target`. */
void core_return(struct core *core, uint64_t target);

/* Counts an indirect jump or call at `address`, whose target is predicted to be that of the last time. */
void core_indirect(struct core *core, uint64_t address, uint64_t target);

/* Returns the cycles of one part that these counts cost. */
uint64_t core_cycles(const struct core_spec *spec, const uint64_t count[CORE_COUNTS],
		enum core_part part);

/* Fills totals with the counts, the cycles of each part, and all cycles, in this order. */
void core_totals(const struct core_spec *spec, const uint64_t count[CORE_COUNTS],
		uint64_t totals[CORE_TOTALS]);

/* Returns the cycles of all parts. They are the sum of core_cycles, exactly. */
uint64_t core_cycles_all(const struct core_spec *spec, const uint64_t count[CORE_COUNTS]);

#endif
