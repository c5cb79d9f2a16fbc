/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where in the run time lies: bins of equal width from a start on. If the run outlasts them, each two bins become one of
 * twice the width. The memory is that of the bins, which the caller has.
 *
 * A bin has the ticks of eight prototypes, and those of other kinds of time. If a ninth prototype comes, the
 * one with the fewest ticks loses its place, and its ticks are of a prototype that is not known (TIMELINE_REST).
 *
 * A process has a timeline of 256 bins. Each thread has two with a few bins, to which it and its drains add without a
 * lock. They are poured into that of the process about every millisecond.
 *
 * One thread adds to a timeline at a time. Others may read the counts meanwhile, which are atomic.
 */
#ifndef PHASEMUX_AGENT_TIMELINE_TIMELINE_H
#define PHASEMUX_AGENT_TIMELINE_TIMELINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMELINE_BINS   256
#define TIMELINE_PLACES 8

/* Kinds of time that are no time of a prototype. */
enum timeline_kind {
	TIMELINE_REST,     /* bursts of prototypes without a place */
	TIMELINE_UNPLACED, /* bursts that were not read, before any like them was classified */
	TIMELINE_NO_PHASE, /* short bursts, and those that stay unclassified */
	TIMELINE_CALLS,    /* in intercepted calls, and between calls that only ask */
	TIMELINE_RESTED, /* in rests: bursts and calls, which were not told apart (agent/boundary/rest.h) */
	TIMELINE_UNOBSERVED, /* while the agent was off */
	TIMELINE_KINDS
};

/* Zeros are an empty bin. */
struct timeline_bin {
	_Atomic uint64_t ticks[TIMELINE_PLACES]; /* of the prototypes */
	_Atomic uint64_t kind_ticks[TIMELINE_KINDS];
	_Atomic uint16_t prototype
			[TIMELINE_PLACES]; /* 1 + number of the prototype; 0: the place is free */
};

/* Bytes of the bins of a process. */
#define TIMELINE_BYTES (TIMELINE_BINS * sizeof(struct timeline_bin))

struct timeline {
	uint64_t begin;               /* ticks of the clock at which the current bin begins */
	_Atomic uint64_t width;       /* ticks of a bin; 0: nothing is collected */
	struct timeline_bin *current; /* the one that the last time lies in */
	struct timeline_bin *bin;     /* `room` bins; owned by the caller */
	uint32_t room;                /* number of bins, which is even */
	uint64_t start;               /* of bin 0, in ticks of the clock */
	_Atomic uint32_t used;        /* number of bins in use */
	/* Numbers of the bins that may have changed since timeline_take_changes: from this one up to the other one. */
	_Atomic uint32_t changed_from, changed_until;
};

/* A range of bins. */
struct timeline_range {
	uint32_t from, until;
};

/* Starts an empty timeline in `room` bins that are zeros. width: ticks of a bin, at first; 0: nothing is collected. */
void timeline_init(struct timeline *timeline, struct timeline_bin *bin, uint32_t room,
		uint64_t start, uint64_t width);

/* Adds to a count with a single writer. */
static inline void timeline_more(_Atomic uint64_t *count, uint64_t ticks)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + ticks,
			memory_order_relaxed);
}

/* Returns whether the time lies within the current bin. */
static inline bool timeline_is_current(const struct timeline *timeline, uint64_t since,
		uint64_t until)
{
	uint64_t width = atomic_load_explicit(&timeline->width, memory_order_relaxed);

	return since - timeline->begin < width && until - timeline->begin <= width &&
			since <= until;
}

/* Adds time of a prototype to a bin, in the first place if it has it. */
void timeline_bin_add(struct timeline_bin *bin, unsigned prototype, uint64_t ticks);

/* Spread the ticks evenly over the bins between two times. The cold parts of the functions below. */
void timeline_spread(struct timeline *timeline, enum timeline_kind kind, uint64_t since,
		uint64_t until, uint64_t ticks);
void timeline_spread_prototype(struct timeline *timeline, unsigned prototype, uint64_t since,
		uint64_t until, uint64_t ticks);

/* Adds `ticks` ticks of a kind that lie between two times, which may be farther apart. */
static inline void timeline_add(struct timeline *timeline, enum timeline_kind kind, uint64_t since,
		uint64_t until, uint64_t ticks)
{
	if (__builtin_expect(timeline_is_current(timeline, since, until), 1))
		timeline_more(&timeline->current->kind_ticks[kind], ticks);
	else
		timeline_spread(timeline, kind, since, until, ticks);
}

/* Adds `ticks` ticks of a prototype that lie between two times, which may be farther apart. */
static inline void timeline_add_prototype(struct timeline *timeline, unsigned prototype,
		uint64_t since, uint64_t until, uint64_t ticks)
{
	struct timeline_bin *bin = timeline->current;

	if (__builtin_expect(!timeline_is_current(timeline, since, until), 0))
		timeline_spread_prototype(timeline, prototype, since, until, ticks);
	else if (atomic_load_explicit(&bin->prototype[0], memory_order_relaxed) == prototype + 1)
		timeline_more(&bin->ticks[0], ticks);
	else
		timeline_bin_add(bin, prototype, ticks);
}

/* Returns which bins may have changed since the last call. */
struct timeline_range timeline_take_changes(struct timeline *timeline);

/*
 * Adds what is in `from`, which ends at `end`, to `into`. The time of a bin that is wider than those of `into` is spread
 * evenly.
 */
void timeline_pour(struct timeline *into, const struct timeline *from, uint64_t end);

/*
 * Empties a timeline for the time from `now` on. Its bins become those of `of`, with the one of this moment and the one before
 * it at first.
 */
void timeline_follow(struct timeline *timeline, const struct timeline *of, uint64_t now);

/* Empties the bins, and leaves them where they are. Another thread may add to them meanwhile. */
void timeline_empty(struct timeline *timeline);

/* Returns whether the bins may come from timelines: all ticks are below `most`, and all prototypes exist. */
bool timeline_is_valid(const struct timeline_bin *bin, uint32_t used, uint64_t most);

#endif
