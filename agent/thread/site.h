/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites of one thread, and spans, which are pairs of sites. A site is a call with its call path. A burst
 * starts at the site whose call returned, which predicts its length, and it runs along a span. For each span
 * and length, the table has the number of bursts, and the prototypes of those that were read. By these the
 * bursts that were not read are placed.
 *
 * The tables have a fixed size. They are filled in the order in which sites and spans are first seen, so that
 * only the memory in use is touched. A span that finds no room is counted as the last one that started at its
 * site. If there is none, it is counted as the one between the same two calls wherever they are made. A site
 * that finds no room for itself or for its call has number 0, and so has such a span.
 *
 * Only one thread writes. The counts that others read at the end are atomic. Relaxed order (plain stores of a
 * single writer) suffices, because nothing else is published through them.
 */
#ifndef PHASEMUX_AGENT_THREAD_SITE_H
#define PHASEMUX_AGENT_THREAD_SITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/thread/histogram.h"
#include "agent/thread/path.h"
#include "cluster/prototypes.h"

#define SITES_MAX        PATHS_MAX
#define SITE_HEADS       (2 * SITES_MAX)
#define SPANS_MAX        1024
#define SPAN_HEADS       (2 * SPANS_MAX)
#define SPAN_WORDS       (SPANS_MAX / 64)
#define SITES_MERGED     64 /* numbers reserved for sites that stand for a call wherever it is made */
#define SPANS_MERGED     64 /* numbers reserved for spans between such sites */
#define SITE_PROBES      16
#define SPAN_LENGTHS_MAX 8    /* lengths of bursts that a span tells apart */
#define LENGTHS_MAX      4096 /* lengths of all spans of a thread */
#define SPAN_SHARES_MAX  3    /* prototypes that the bursts of one length go to */
#define SITE_LONG        4    /* multiple of its site's mean from which a burst is long */
#define SITE_EXPLORED    1    /* bursts of a new site that are read to learn what they are */

struct site {
	_Alignas(32) uint16_t path; /* number in the table of paths */
	uint16_t call;              /* enum runtime_call */
	uint32_t bursts;            /* seen, saturating */
	float mean_ticks;           /* of the bursts that start here, exponentially weighted */
	_Atomic float more; /* 1 + more: factor on the probability of being read; the drain writes */
	uint16_t to, span;  /* end and span of the last burst from here that was placed; 0: none */
	bool polls; /* what came after the last call from here was polling (polling.h), and no burst */
	/*
	 * Few bursts may be much longer than the others. The next one is foreseen if it comes after as many
	 * others as one of the last two.
	 */
	uint16_t run, runs[2]; /* others since the last long burst, saturating; before it; 0: not known */
	float long_ticks; /* mean of the long bursts, exponentially weighted */
};

/* The share of one prototype in the bursts of a span that are of one length. */
struct span_share {
	uint32_t read;    /* bursts read, or slices of them; 0: the entry is free */
	float mean_ticks; /* of the bursts read */
	float mean_unread; /* other bursts that each stands for: 1 / p - 1, if read with probability p */
	uint16_t prototype;
};

/*
 * The bursts of a span whose lengths are in one half of an octave. Bursts that were not read can be placed by
 * their length, because both ends of every burst have time stamps.
 */
struct span_length {
	_Atomic uint64_t unread; /* bursts not read, or whose counts were lost; the thread writes */
	_Atomic uint64_t unread_ticks;
	/* of the number unread, part of which is estimated, and of their ticks if the number is known */
	_Atomic float variance, ticks_variance;
	/*
	 * What was read, but is placed like unread bursts of this length. These are pieces of bursts that were
	 * cut into slices, and bursts for which there was no room until the next training. The drain writes
	 * this field and those after it.
	 */
	double left_ticks;
	uint32_t left;
	bool cut; /* the shares count slices, of which a burst has many */
	_Atomic uint16_t
			latest; /* 1 + prototype of the burst that was classified last; 0: none was */
	struct span_share share[SPAN_SHARES_MAX];
};

/*
 * The order in which a thread runs its spans. The span before predicts this span, if this one came after it the
 * last time. The span after it tells this span, if this one came before it the last time.
 */
struct span_order {
	uint16_t previous, next; /* spans before and after it, the last time; not itself; 0: none */
	uint32_t bursts;         /* bursts that were not short */
	uint32_t changes, told; /* bursts after another span, and number of these predicted by it */
	uint32_t left, confirmed; /* bursts before another span, and number of these told by it */
};

struct span {
	uint16_t from, to; /* sites */
	uint32_t place;    /* code between the sites (span_place); 0: not known */
	struct span_order order;
	bool used;
	uint8_t lengths;                           /* number in use; only the thread adds one */
	uint8_t last;                              /* index of the length of the last burst */
	uint8_t bin[SPAN_LENGTHS_MAX];             /* bin of each length */
	_Atomic uint16_t length[SPAN_LENGTHS_MAX]; /* number of each in the table; 0: not in use */
};

/* The span where the bursts of a prototype mostly run, even if it has no room for a share of the prototype. */
struct prototype_home {
	uint32_t span;
	float ticks; /* votes for this span, minus votes for others; 0: no span */
};

struct site_table {
	/* one bit for each span that has changed since it was copied to the spool: in what the thread
	 * writes, and in what the drain writes */
	_Atomic uint64_t unread_since[SPAN_WORDS], noted_since[SPAN_WORDS];
	/* the highest numbers in use; any thread may read the sites up to `sites` */
	_Atomic uint32_t sites;
	uint32_t spans, lengths;
	struct path_table paths;
	uint16_t site_head[SITE_HEADS], span_head[SPAN_HEADS]; /* numbers by hash; 0: free */
	struct site site[SITES_MAX];
	struct span span[SPANS_MAX];
	struct span_length length[LENGTHS_MAX]; /* 0: for spans that found no room for a length */
	struct prototype_home home[PROTOTYPES_MAX]; /* the drain writes */
};

/*
 * Returns the constant from an instruction's operand, because in memory it would need a cache line of its own.
 */
static inline double in_code(double constant)
{
	uint64_t bits;

	memcpy(&bits, &constant, sizeof(bits));
	__asm__("" : "+r"(bits));
	memcpy(&constant, &bits, sizeof(bits));
	return constant;
}

/* Adds to a count with a single writer, which needs no atomic read-modify-write. */
static inline void site_add(_Atomic uint64_t *count, uint64_t more)
{
	atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + more,
			memory_order_relaxed);
}

static inline void span_mark(_Atomic uint64_t *since, uint32_t number)
{
	_Atomic uint64_t *word = &since[number / 64];

	atomic_store_explicit(word,
			atomic_load_explicit(word, memory_order_relaxed) | 1ull << number % 64,
			memory_order_relaxed);
}

/*
 * Returns a number for the code that runs between two sites, the same on every rank; 0 if it is not known. to:
 * 0 for code that starts at `from` and has not ended. Call on the thread itself, or with to = 0 on any thread.
 */
uint32_t span_place(const struct site_table *table, uint32_t from, uint32_t to);

/* Find the number in the hash table, or add it if there is room. The cold parts of site_find and span_find. */
uint32_t site_search(struct site_table *table, uint32_t path, uint32_t call);
uint32_t span_search(struct site_table *table, uint32_t from, uint32_t to);

/* Returns the site's number, which its path remembers, because a path mostly has only one call. */
static inline uint32_t site_find(struct site_table *table, uint32_t path, uint32_t call)
{
	uint32_t *note = &table->paths.path[path].note, number = *note >> 16;

	if (__builtin_expect(!number || (*note & 0xffff) != call, 0)) {
		number = site_search(table, path, call);
		*note = number << 16 | call;
	}
	return number;
}

/*
 * Returns the span's number. Its first site remembers the last one, because the next site is mostly the same.
 */
static inline uint32_t span_find(struct site_table *table, uint32_t from, uint32_t to)
{
	struct site *site = &table->site[from];

	if (__builtin_expect(!site->span || site->to != to, 0)) {
		site->span = (uint16_t)span_search(table, from, to);
		site->to = (uint16_t)to;
	}
	return site->span;
}

/* Returns whether the burst that starts here now will be long, if the program goes on as before. */
static inline bool site_foresees_long(const struct site *site)
{
	return site->run && (site->run == site->runs[0] || site->run == site->runs[1]) &&
			site->run < UINT16_MAX && site->long_ticks > site->mean_ticks;
}

/*
 * Learns a burst that was much longer than most. Returns whether it was foreseen. The cold part of site_learn.
 */
bool site_learn_long(struct site *site, uint64_t ticks);

/* Updates the prediction after a burst of `ticks` that started here. */
static inline void site_learn(struct site *site, uint64_t ticks)
{
	float step = (float)in_code(1.0 / 16);

	if (__builtin_expect(site->bursts < 15, 0))
		step = 1.0f / (float)(site->bursts + 1);
	site->bursts += site->bursts < UINT32_MAX;
	if (__builtin_expect((float)ticks > site->mean_ticks * SITE_LONG && site->bursts > 1, 0)) {
		/* the mean has only bursts that were not foreseen, so that no tick pays for two reads */
		if (site_learn_long(site, ticks))
			return;
	} else {
		site->run += site->run < UINT16_MAX;
	}
	site->mean_ticks += ((float)ticks - site->mean_ticks) * step;
}

/*
 * Returns the probability with which a burst that starts here is read; 1 or more: always. Reading costs at most
 * pay x 2 reads for each tick of computing, whatever the lengths are, so a budget holds. A burst that is read
 * with probability p counts 1 / p times. Sites whose bursts are worth more reads get more of the same budget.
 * The first burst of a new site has the probability `explore`.
 */
static inline double site_chance(const struct site *site, double pay, double explore)
{
	float more = atomic_load_explicit(&site->more, memory_order_relaxed);
	float expected = site->mean_ticks;

	if (__builtin_expect(site->bursts < SITE_EXPLORED, 0))
		return explore;
	if (__builtin_expect(site_foresees_long(site), 0))
		expected = site->long_ticks;
	return (double)(expected + expected * more) * pay;
}

/*
 * Sets what reads are worth at each site, to the mean over the time of its bursts. factor: what reads of each
 * prototype's bursts are worth (multiplex/scheme/preference.h). spans: the highest number of a span that had a
 * burst noted. Call under the drain's rules.
 */
void site_prefer(struct site_table *table, uint32_t spans, const float *factor);

/* Adds a burst's time as votes for its span, to find the one with most of the prototype's time. */
static inline void site_vote_home(struct prototype_home *home, uint32_t span, double ticks)
{
	if (home->span == span)
		home->ticks += (float)ticks;
	else if (home->ticks >= (float)ticks)
		home->ticks -= (float)ticks;
	else
		*home = (struct prototype_home){ span, (float)ticks - home->ticks };
}

/*
 * Returns the number in the table of the span's length `i`. The drain may call this while the thread adds one.
 */
static inline uint32_t span_length_number(const struct span *span, unsigned i)
{
	return atomic_load_explicit(&span->length[i], memory_order_relaxed);
}

/* Finds or adds a length that is not the one of the last burst. The cold part of span_length. */
uint32_t span_length_search(struct site_table *table, struct span *span, uint8_t bin);

/*
 * Returns the number in the table of the length of a burst of this span that took `ticks`. Call on the thread
 * itself. A length that finds no room is the one of the span that is nearest to it; 0 if the span has none.
 */
static inline uint32_t span_length(struct site_table *table, struct span *span, uint64_t ticks)
{
	uint8_t bin = (uint8_t)(histogram_bin(ticks) / 2);

	if (__builtin_expect(span->bin[span->last] != bin || !span->lengths, 0))
		return span_length_search(table, span, bin);
	return span_length_number(span, span->last);
}

/* Adds a burst of span number `span` to the order, after one of number `before` (0: not known). */
static inline void span_follow(struct site_table *table, uint32_t before, uint32_t span)
{
	struct span_order *own = &table->span[span].order, *other = &table->span[before].order;

	own->bursts++;
	if (before == span || !before)
		return;
	own->changes++;
	own->told += other->next == span;
	other->left++;
	other->confirmed += own->previous == before;
	own->previous = (uint16_t)before;
	other->next = (uint16_t)span;
}

/*
 * Returns how regularly the thread has run the span so far, 0 .. 1. This is the share of its bursts that the
 * span before predicted, or that the span after told, if that is more. It is 1 for a span that comes in long
 * runs. Returns a negative number if too few bursts were seen. Call on the thread itself.
 */
float span_regular(const struct span_order *order);

/* Adds `bursts` bursts of this length that were not read. Call on the thread itself. */
static inline void span_add_unread(struct span_length *length, uint64_t bursts, uint64_t ticks)
{
	site_add(&length->unread, bursts);
	site_add(&length->unread_ticks, ticks);
}

/* Adds `count` slices to a length's share of `prototype`. Each of them stands only for itself. */
void span_note_slices(struct span_length *length, uint32_t prototype, uint32_t count, double ticks);

/*
 * Adds a burst that was read, and that stands for `weight` bursts, to a length's share of `prototype`. If there
 * is no room for such a share, the burst joins the largest one.
 */
void span_note(struct span_length *length, uint32_t prototype, double weight, double ticks);

/* Returns the ticks of the bursts of a share that were read. */
static inline double span_share_read_ticks(const struct span_share *share)
{
	return share->read * (double)share->mean_ticks;
}

/* Returns how many other bursts the read ones of a share stand for. */
static inline double span_share_unread(const struct span_share *share)
{
	return share->read * (double)share->mean_unread;
}

/* Returns the ticks of the bursts of a share that were read, and of those that they stand for. */
static inline double span_share_ticks(const struct span_share *share)
{
	return span_share_read_ticks(share) * (1 + (double)share->mean_unread);
}

/* Returns whether a burst of any length of this span has gone to a prototype. */
bool span_is_noted(const struct site_table *table, const struct span *span);

#endif
