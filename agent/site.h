/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Call sites of one thread, by call path: where a burst can start (the call that returned there
 * predicts how long it will be), and spans, the pairs of sites that bursts run between. By span and length
 * it is known how many bursts there were, and which prototypes those went to that were read: so the
 * bursts that were not read are placed. Fixed tables, in the order in which things were met, so that memory
 * is touched as far as it is used. A span that finds no room is the last one that started at its site, else
 * the one between the same two calls wherever they are made. A site that finds no room for itself or for its
 * call is number 0, and so is such a span.
 *
 * One thread writes; the counts that others read at the end are atomic with relaxed order (single
 * writer: plain stores), and need no more, for nothing else is published through them.
 */
#ifndef PHASEMUX_AGENT_SITE_H
#define PHASEMUX_AGENT_SITE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "agent/histogram.h"
#include "cluster/prototypes.h"
#include "sampling/path.h"

#define SITES_MAX        PATHS_MAX
#define SITE_HEADS       (2 * SITES_MAX)
#define SPANS_MAX        1024
#define SPAN_HEADS       (2 * SPANS_MAX)
#define SPAN_WORDS       (SPANS_MAX / 64)
#define SITES_MERGED     64 /* numbers kept for sites that stand for a call wherever it is made */
#define SPANS_MERGED     64 /* numbers kept for spans between such sites */
#define SITE_PROBES      16
#define SPAN_LENGTHS_MAX 8    /* lengths of bursts that a span tells apart */
#define LENGTHS_MAX      4096 /* of all spans of a thread */
#define SPAN_SHARES_MAX  3    /* prototypes that the bursts of one length go to */
#define SITE_LONG        4    /* times the mean of its site is a long burst */
#define SITE_EXPLORED    1    /* so many bursts of a new site are read to learn what they are */

struct site {
	_Alignas(32) uint16_t path; /* of the table's */
	uint16_t call;              /* enum runtime_call */
	uint32_t bursts;            /* seen, saturating */
	float mean_ticks;           /* of the bursts that start here, exponentially weighted */
	_Atomic float more; /* 1 + more: factor on the probability of being read; the drain writes */
	uint16_t to, span; /* where the last of them that was not short ended, and its span; 0: none */
	bool polls; /* what came after the last call from here was polling (polling.h), and no burst */
	/*
	 * Where few bursts are much longer than the others, and come after as many others as the last time or
	 * the time before, the next one is foreseen.
	 */
	uint16_t run, runs[2]; /* others since the last long burst, saturating; before it; 0: not known */
	float long_ticks; /* mean of the long bursts, exponentially weighted */
};

/* The share of one prototype in the bursts of a span that are of one length. */
struct span_share {
	uint32_t read;    /* bursts read, or slices of them; 0: the entry is free */
	float mean_ticks; /* of those */
	float mean_unread; /* bursts that each stands for beside itself: read with probability p, 1 / p - 1 */
	uint16_t prototype;
};

/*
 * The bursts of a span whose lengths fall into one half of an octave. Both ends of
 * every burst are known from time stamps, so the bursts that were not read are placed by their length.
 */
struct span_length {
	_Atomic uint64_t
			unread; /* bursts that were not read, or whose counts were lost; the thread writes */
	_Atomic uint64_t unread_ticks;
	_Atomic float variance; /* of the number unread, part of which is estimated; the thread writes */
	/*
	 * Read, but placed as the others of this length: pieces of bursts that were cut into slices, and bursts
	 * for which there was no room until the next training. The drain writes this and what follows.
	 */
	double left_ticks;
	uint32_t left;
	bool cut; /* the shares count slices, of which a burst has many */
	struct span_share share[SPAN_SHARES_MAX];
};

/*
 * In which order a thread runs its spans: whether the span before one told that this one would come,
 * because it did the last time, and whether the span after it told that this one had come.
 */
struct span_order {
	uint16_t previous, next; /* spans before and after it, the last time; not itself; 0: none */
	uint32_t bursts;         /* not short */
	uint32_t changes, told;  /* of these, after another span, and told by it */
	uint32_t left, confirmed; /* of these, before another span, and told by it */
};

struct span {
	uint16_t from, to; /* sites */
	uint32_t place;    /* the code between them, as span_place says; 0: not known */
	struct span_order order;
	bool used;
	uint8_t lengths;                           /* in use; the thread alone adds one */
	uint8_t last;                              /* which of them the burst that ended last has */
	uint8_t bin[SPAN_LENGTHS_MAX];             /* of each length */
	_Atomic uint16_t length[SPAN_LENGTHS_MAX]; /* the table's number of each; 0: not in use */
};

/* Where the bursts of a prototype mostly run, also if their span has no room for a share of it. */
struct prototype_home {
	uint32_t span;
	float ticks; /* for that span, less those for others; 0: no span */
};

struct site_table {
	/* spans that have changed since they were kept, a bit each: what the thread writes of them, and
	 * what the drain writes */
	_Atomic uint64_t unread_since[SPAN_WORDS], noted_since[SPAN_WORDS];
	/* the highest numbers in use; the sites up to theirs may be read on any thread */
	_Atomic uint32_t sites;
	uint32_t spans, lengths;
	struct path_table paths;
	uint16_t site_head[SITE_HEADS], span_head[SPAN_HEADS]; /* numbers by hash; 0: free */
	struct site site[SITES_MAX];
	struct span span[SPANS_MAX];
	struct span_length length[LENGTHS_MAX];     /* 0: of all spans that found no room for one */
	struct prototype_home home[PROTOTYPES_MAX]; /* the drain writes */
};

/* As an instruction's operand: in memory a constant has a line of the cache for itself. */
static inline double in_code(double constant)
{
	uint64_t bits;

	memcpy(&bits, &constant, sizeof(bits));
	__asm__("" : "+r"(bits));
	memcpy(&constant, &bits, sizeof(bits));
	return constant;
}

/* Single writer: no read-modify-write needed. */
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
 * Returns a number for the code that runs between two sites, the same on every rank; 0 if it is not known.
 * Call on the thread itself. Without `to` (0), for code that starts at `from` and has not ended; on any
 * thread.
 */
uint32_t span_place(const struct site_table *table, uint32_t from, uint32_t to);

/* The cold sides of site_find and span_find: looked up, or new; else as without room. */
uint32_t site_search(struct site_table *table, uint32_t path, uint32_t call);
uint32_t span_search(struct site_table *table, uint32_t from, uint32_t to);

/* The site's number. A path is of one call, or nearly: it remembers its site. */
static inline uint32_t site_find(struct site_table *table, uint32_t path, uint32_t call)
{
	uint32_t *note = &table->paths.path[path].note, number = *note >> 16;

	if (__builtin_expect(!number || (*note & 0xffff) != call, 0)) {
		number = site_search(table, path, call);
		*note = number << 16 | call;
	}
	return number;
}

/* The span's number. What follows a site is mostly what followed it the last time. */
static inline uint32_t span_find(struct site_table *table, uint32_t from, uint32_t to)
{
	struct site *site = &table->site[from];

	if (__builtin_expect(!site->span || site->to != to, 0)) {
		site->span = (uint16_t)span_search(table, from, to);
		site->to = (uint16_t)to;
	}
	return site->span;
}

/* Whether the burst that starts here now will be a long one, if the program goes on as before. */
static inline bool site_foresees_long(const struct site *site)
{
	return site->run && (site->run == site->runs[0] || site->run == site->runs[1]) &&
			site->run < UINT16_MAX && site->long_ticks > site->mean_ticks;
}

/* The cold side of site_learn: a burst that was much longer than most. True: it was foreseen. */
bool site_learn_long(struct site *site, uint64_t ticks);

/* A burst of `ticks` that started here has ended: moves the prediction. */
static inline void site_learn(struct site *site, uint64_t ticks)
{
	float step = (float)in_code(1.0 / 16);

	if (__builtin_expect(site->bursts < 15, 0))
		step = 1.0f / (float)(site->bursts + 1);
	site->bursts += site->bursts < UINT32_MAX;
	if (__builtin_expect((float)ticks > site->mean_ticks * SITE_LONG && site->bursts > 1, 0)) {
		/* the mean is of what comes unforeseen, so that no tick pays for two reads */
		if (site_learn_long(site, ticks))
			return;
	} else {
		site->run += site->run < UINT16_MAX;
	}
	site->mean_ticks += ((float)ticks - site->mean_ticks) * step;
}

/*
 * The probability with which a burst that starts here is read; at least 1: always. Reading costs at
 * most pay x 2 reads for each tick of computing, whatever the lengths are, so a budget holds. What
 * is read with probability p counts 1 / p times. Sites whose bursts are worth more reads get more of
 * them from the same budget. A new site is
 * explored: the chance of its first burst is `explore`.
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
 * Under the drain's rules: what reads of each prototype's bursts are worth (multiplex/preference.h)
 * becomes that of the sites from which they came, by time. spans: the highest number of which a
 * burst was noted.
 */
void site_prefer(struct site_table *table, uint32_t spans, const float *factor);

/* Votes with a burst's time for its span as the one in which most of the prototype's time is. */
static inline void site_vote_home(struct prototype_home *home, uint32_t span, double ticks)
{
	if (home->span == span)
		home->ticks += (float)ticks;
	else if (home->ticks >= (float)ticks)
		home->ticks -= (float)ticks;
	else
		*home = (struct prototype_home){ span, (float)ticks - home->ticks };
}

/* The table's number of the span's length `i`. The drain may ask while the thread adds one. */
static inline uint32_t span_length_number(const struct span *span, unsigned i)
{
	return atomic_load_explicit(&span->length[i], memory_order_relaxed);
}

/* The cold side of span_length: another length than the last one, or the first of its kind. */
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

/* A burst of span number `span` has ended, after one of number `before` (0: not known). */
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
 * Returns how regularly the thread has run the span so far: the share, 0 .. 1, of its bursts that the
 * span before told, or the one after it if that tells more; 1 if it comes in long runs. Returns a
 * negative number if too few bursts were seen. On the thread itself.
 */
float span_regular(const struct span_order *order);

/* Adds `bursts` bursts of this length that were not read; by the thread itself. */
static inline void span_add_unread(struct span_length *length, uint64_t bursts, uint64_t ticks)
{
	site_add(&length->unread, bursts);
	site_add(&length->unread_ticks, ticks);
}

/* Adds to a length's share of `prototype` `count` slices, each of which stands for itself alone. */
void span_note_slices(struct span_length *length, uint32_t prototype, uint32_t count, double ticks);

/*
 * Adds to a length's share of `prototype` a burst that was read, and that stands for `weight` bursts. What
 * finds no room joins the largest share.
 */
void span_note(struct span_length *length, uint32_t prototype, double weight, double ticks);

/* The time of the bursts of one share that were read. */
static inline double span_share_read_ticks(const struct span_share *share)
{
	return share->read * (double)share->mean_ticks;
}

/* How many bursts the read ones of a share stand for beside themselves. */
static inline double span_share_unread(const struct span_share *share)
{
	return share->read * (double)share->mean_unread;
}

/* The time of the bursts of one share, with the ones that they stand for. */
static inline double span_share_ticks(const struct span_share *share)
{
	return span_share_read_ticks(share) * (1 + (double)share->mean_unread);
}

/* Whether a burst of any length of this span has gone to a prototype. */
bool span_is_noted(const struct site_table *table, const struct span *span);

#endif
