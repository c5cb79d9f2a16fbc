/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are skipped. In programs that poll or exchange only small messages, time stamps at both ends of
 * each call would break the budget. A thread then observes a window of calls, and skips some multiple of that
 * number. At a skipped call it only checks which place the call comes from. The time of skipped calls is known
 * from the time stamps around them. Their bursts and calls share it in the same proportions as in the window.
 *
 * A call is skipped only if its place, with the same stack, was quick in this window or an earlier one. All
 * calls must have been quick for some time, too. A skipped call that makes no intercepted call is only counted.
 * It is not even noted that the thread is in a call. If it makes one after all, but did not in a window, the
 * inner call is taken for a call of the program.
 *
 * Something long may be among skipped calls. It is taken for the last burst, or for a call if one of the calls
 * can wait. No call is skipped while such time is more than a hundredth of all time (a tenth, if none can
 * wait).
 *
 * After a window of only polling (polling.h), a skipped call that is answered is observed when it returns. The
 * burst that begins then is timed, and may be read. This is not done while answers do not end the polling, for
 * example if a program asks again for what has come.
 */
#ifndef PHASEMUX_AGENT_BOUNDARY_SKIP_H
#define PHASEMUX_AGENT_BOUNDARY_SKIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SKIP_WINDOW     8 /* calls */
#define SKIP_PLACES_MAX 12

/*
 * The preload's part, in the thread's own storage. What the next call is compared with is here and not behind
 * pointers. While calls come from one place again and again, only `run` is written. Each instruction matters if
 * polls take 80 ns and wait for memory between them (docs/measurements/programs.md).
 */
struct skip {
	/* where the next call is expected from, if it does not nest and may be skipped; site NULL: nowhere */
	const void *site, *frame;
	uint32_t run; /* calls from there that may be skipped, at least one, before other fields change */
	uint32_t left; /* calls that may be skipped after these */
	uint32_t places;
	bool nests; /* the call under way has made an intercepted one itself */
	bool heeds; /* a skipped call that only asks, and is answered, is observed when it returns */
	struct skip_place *next;  /* place of the next call */
	struct skip_place *last;  /* place of the last skipped call, or at first any */
	struct skip_place *place; /* at most SKIP_PLACES_MAX */
};

struct skip_place {
	const void *site, *frame;
	/* where a call that does not nest came from after one from here; NULL: none is known */
	const void *next_site, *next_frame;
	struct skip_place *next;
	uint32_t from; /* the core's number of the site */
	bool repeats; /* `next` is this place; a flag saves a register that a comparison would need */
	bool nests;   /* a call from here made an intercepted one itself */
	bool asks;    /* calls from here only ask */
};

static inline bool skip_is_place(const struct skip_place *place, const void *site,
		const void *frame)
{
	return place->site == site && place->frame == frame;
}

/* Returns the place with this site and frame, or NULL. */
static inline struct skip_place *skip_find(struct skip *skip, const void *site, const void *frame)
{
	for (uint32_t i = 0; i < skip->places; i++)
		if (skip_is_place(&skip->place[i], site, frame))
			return &skip->place[i];
	return NULL;
}

/* Returns how many calls may still be skipped. */
static inline uint32_t skip_left(const struct skip *skip)
{
	return skip->run + skip->left;
}

/* Expects the call that came after one from `place` the last time. Call when `run` is used up. */
static inline void skip_expect(struct skip *skip, struct skip_place *place)
{
	skip->last = place;
	skip->next = place->next;
	skip->site = place->next_site;
	skip->frame = place->next_frame;
	if (skip->left == 0) {
		skip->site = NULL;
	} else if (place->repeats) {
		skip->run = skip->left;
		skip->left = 0;
	} else {
		skip->run = 1;
		skip->left--;
	}
}

/* Allows to skip `calls` calls, after one from `place`. */
static inline void skip_start(struct skip *skip, struct skip_place *place, uint32_t calls)
{
	skip->run = 0;
	skip->left = calls;
	skip_expect(skip, place);
}

static inline void skip_stop(struct skip *skip)
{
	skip->run = skip->left = 0;
	skip->site = NULL;
}

/* Notes that a call from `next` came after one from `place`. next NULL: none, or one that nests. */
static inline void skip_follows(struct skip_place *place, struct skip_place *next)
{
	place->next = next;
	place->next_site = next ? next->site : NULL;
	place->next_frame = next ? next->frame : NULL;
	place->repeats = next == place;
}

/*
 * Skips the call that begins, if it comes from one of the places: the burst under way then goes on after it.
 * Returns false if it does not. Call only while skip_left is not 0.
 */
static inline bool skip_takes(struct skip *skip, const void *site, const void *frame)
{
	struct skip_place *place = skip_find(skip, site, frame);

	if (!place)
		return false;
	if (!place->nests)
		skip_follows(skip->last, place);
	skip_start(skip, place, skip_left(skip) - 1);
	return true;
}

/*
 * Skips the call that begins, if it comes from the place that is expected, in a few instructions. Such a call
 * makes no other one that is intercepted. Returns false if it comes from elsewhere.
 */
static inline bool skip_takes_next(struct skip *skip, const void *site, const void *frame)
{
	if (skip->site != site || skip->frame != frame)
		return false;
	if (!--skip->run)
		skip_expect(skip, skip->next);
	return true;
}

#endif
