/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that are passed over. Where calls follow each other so fast that a time stamp at both ends of
 * each would break the budget (programs that poll, or exchange nothing but small messages), a thread
 * looks at a window of calls, and then lets so many times as many go by with no more than a look at who
 * calls. The time that went by is known from the stamps around it, and their bursts and calls share it
 * as those of the window did.
 *
 * Only calls from places that were quick in this window or those before it, with the same stack, are
 * passed over, and only while all calls were quick for some time. Those that make no intercepted call
 * themselves leave no trace but that they are counted: not even that the thread is in one (where one does so
 * all the same, but did not in a window, what it makes is taken for a call of the program). Where something
 * long was among them all the same, it is taken for the burst that came last, or where one of the calls can
 * wait, for a call; while more than a hundredth of all time was such (a tenth, where none can wait), no call
 * is passed over.
 *
 * Where a window held nothing but polling (polling.h), a call that is answered is looked at all the same when
 * it returns: the burst that begins then is timed, and may be read. This is left out while answers do not end
 * the polling, as where a program asks again for what has come.
 */
#ifndef PHASEMUX_AGENT_PASSED_H
#define PHASEMUX_AGENT_PASSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PASSED_WINDOW 8   /* calls */
#define PASSED_MOST   127 /* times the window may go by */
#define PASSED_PLACES 12

/*
 * What the preload sees of it, in the thread's own storage. What the next call is compared with lies here,
 * not behind pointers, and where calls come from one place again and again, `run` alone is written. Each
 * instruction counts where polls are over in 80 ns with memory waited for between them (docs/cost.md).
 */
struct passed {
	/* where the next call is expected from, if it does not nest and may go by; site NULL: none is */
	const void *site, *frame;
	uint32_t run; /* calls that may go by from there, at least one, before anything else changes */
	uint32_t left; /* and from then on */
	uint32_t places;
	bool nests; /* the call under way has made an intercepted one itself */
	bool heeds; /* a call that only asks, and is answered, is looked at though it goes by */
	struct passed_place *next;  /* that place */
	struct passed_place *last;  /* where the last one came from, or one to begin with */
	struct passed_place *place; /* at most PASSED_PLACES */
};

struct passed_place {
	const void *site, *frame;
	/* where a call that does not nest came from after one from here, as in struct passed */
	const void *next_site, *next_frame;
	struct passed_place *next;
	uint32_t from; /* the core's number of the site */
	bool repeats;  /* `next` is this one: whoever goes by needs no register to compare them */
	bool nests;    /* a call from here made an intercepted one itself */
	bool asks;     /* calls from here only ask */
};

static inline bool passed_is_place(const struct passed_place *place, const void *site,
		const void *frame)
{
	return place->site == site && place->frame == frame;
}

/* One of the places, or NULL. */
static inline struct passed_place *passed_find(struct passed *passed, const void *site,
		const void *frame)
{
	for (uint32_t i = 0; i < passed->places; i++)
		if (passed_is_place(&passed->place[i], site, frame))
			return &passed->place[i];
	return NULL;
}

/* Calls that may still go by. */
static inline uint32_t passed_left(const struct passed *passed)
{
	return passed->run + passed->left;
}

/* The last call came from there, `run` is over: what comes now is known from there, too. */
static inline void passed_came_from(struct passed *passed, struct passed_place *place)
{
	passed->last = place;
	passed->next = place->next;
	passed->site = place->next_site;
	passed->frame = place->next_frame;
	if (passed->left == 0) {
		passed->site = NULL;
	} else if (place->repeats) {
		passed->run = passed->left;
		passed->left = 0;
	} else {
		passed->run = 1;
		passed->left--;
	}
}

/* So many calls may go by, after one from there. */
static inline void passed_start(struct passed *passed, struct passed_place *place, uint32_t calls)
{
	passed->run = 0;
	passed->left = calls;
	passed_came_from(passed, place);
}

static inline void passed_stop(struct passed *passed)
{
	passed->run = passed->left = 0;
	passed->site = NULL;
}

/* After a call from one place another came, or may come: NULL, none that does not nest. */
static inline void passed_follows(struct passed_place *place, struct passed_place *next)
{
	place->next = next;
	place->next_site = next ? next->site : NULL;
	place->next_frame = next ? next->frame : NULL;
	place->repeats = next == place;
}

/*
 * The call that begins is passed over, and what follows its return is of the same burst for us. There must
 * be calls left that may.
 */
static inline bool passed_takes(struct passed *passed, const void *site, const void *frame)
{
	struct passed_place *place = passed_find(passed, site, frame);

	if (!place)
		return false;
	if (!place->nests)
		passed_follows(passed->last, place);
	passed_start(passed, place, passed_left(passed) - 1);
	return true;
}

/*
 * The same where calls come from place after place as they did before, in a few instructions. Such a call
 * makes no other that is intercepted.
 */
static inline bool passed_takes_next(struct passed *passed, const void *site, const void *frame)
{
	if (passed->site != site || passed->frame != frame)
		return false;
	if (!--passed->run)
		passed_came_from(passed, passed->next);
	return true;
}

/* A burst and the call that ended it, which were timed; all in ticks. */
struct passed_pair {
	uint64_t burst, call;
	uint32_t span, from;       /* of the burst; the site where the next one begins */
	uint16_t length;           /* number in the thread's table */
	bool placed, waits, nests; /* placed: by span and length; otherwise the burst is short */
	bool polls;                /* it was no burst but polling (polling.h) */
	bool asks;                 /* the call only asks */
	const void *site, *frame;
};

/* The core's side. */
struct passed_window {
	uint32_t multiple; /* so many windows go by for each one that is looked at, about; 0: none */
	uint32_t going;    /* calls that may go by since the burst under way began; 0: none do */
	uint32_t resume;   /* so many more may, if the program polls on after it was answered */
	uint16_t calm;     /* how many quick ones came in a row, at most as many as matter */
	uint16_t pairs;    /* of this window were looked at */
	bool timed;        /* the burst that ended last is the next pair, but for its call */
	uint64_t doubt;    /* ticks of what was long, and went by */
	/* of what went by when nothing was: how long it was, and as long as the window promised */
	double usual_ticks, usual_expected;
};

struct thread;
struct thread_rules;

/*
 * How many windows go by for each one that is looked at, where a thread had so many calls in so many
 * ticks, so that looking costs no more than a share of what is allowed. 0: it looks at all. elapsed:
 * ticks of the program.
 */
uint32_t passed_multiple(const struct thread *thread, const struct thread_rules *rules,
		uint64_t calls, uint64_t ticks, uint64_t elapsed);

/* Ticks that a call costs which goes by, in a row of them. Measured, in 6 us. */
double passed_cost(void);

/* A call returned, took so long, and the next burst has begun: perhaps what follows may go by. */
void passed_after(struct thread *thread, const struct thread_rules *rules, const void *site,
		const void *frame, bool waits, uint64_t call_ticks);

/*
 * What went by before time now becomes bursts and calls; of it, the burst under way is what came last.
 */
void passed_settle(struct thread *thread, const struct thread_rules *rules, uint64_t now);

/*
 * The same where the call that went by last returns now, and was answered: no burst is under way. Where what
 * went by was longer than expected, that call was, for it took what has come. False: nothing went by.
 */
bool passed_answered(struct thread *thread, const struct thread_rules *rules, uint64_t now);

#endif
