/*
 * Calls that are passed over. Where calls follow each other so fast that a time stamp at both ends of
 * each would break the budget (programs that poll, or exchange nothing but small messages), a thread
 * looks at a window of calls, and then lets so many times as many go by with no more than a look at who
 * calls. The time that went by is known from the stamps around it, and their bursts and calls share it
 * as those of the window did.
 *
 * Only calls from places that were quick in this window or those before it, with the same stack, are
 * passed over, and only while all calls were quick for some time. Where something long was among them all
 * the same, it is taken for the burst that came last, or where one of the calls can wait, for a call;
 * while more than a hundredth of all time was such (a tenth, where none can wait), no call is passed over.
 */
#ifndef PHASEMUX_AGENT_PASSED_H
#define PHASEMUX_AGENT_PASSED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PASSED_WINDOW 8   /* calls */
#define PASSED_MOST   127 /* times the window may go by */
#define PASSED_PLACES 12

/* What the preload sees of it: its word of a thread points to this, or to NULL. */
struct passed {
	uint32_t left; /* calls that may still be passed over */
	uint32_t places;
	/* where the last of them came from, or one to begin with; there is one where `left` is not 0 */
	struct passed_place *last;
	struct passed_place *place; /* at most PASSED_PLACES */
};

struct passed_place {
	const void *site, *frame;
	struct passed_place *next; /* where a call came from after one from here */
	uint32_t from;             /* the core's number of the site */
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

static inline void passed_take(struct passed *passed, struct passed_place *place)
{
	passed->last = place;
	passed->left--;
}

/* The call that begins is passed over, and what follows its return is of the same burst for us. */
static inline bool passed_takes(struct passed *passed, const void *site, const void *frame)
{
	struct passed_place *place = passed_find(passed, site, frame);

	if (!place)
		return false;
	passed->last->next = place;
	passed_take(passed, place);
	return true;
}

/* The same where calls come from place after place as they did before, in a few instructions. */
static inline bool passed_takes_next(struct passed *passed, const void *site, const void *frame)
{
	struct passed_place *place = passed->last->next;

	if (!passed_is_place(place, site, frame))
		return false;
	passed_take(passed, place);
	return true;
}

/* A burst and the call that ended it, which were timed; all in ticks. */
struct passed_pair {
	uint64_t burst, call;
	uint32_t span, from; /* of the burst; the site where the next one begins */
	bool is_short, waits;
	const void *site, *frame;
};

/* The core's side. */
struct passed_window {
	uint32_t multiple; /* so many windows go by for each one that is looked at, about; 0: none */
	uint32_t going;    /* calls that may go by since the burst under way began; 0: none do */
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

/* A call returned, took so long, and the next burst has begun: perhaps what follows may go by. */
void passed_after(struct thread *thread, const struct thread_rules *rules, const void *site,
		const void *frame, bool waits, uint64_t call_ticks);

/*
 * What went by before time now becomes bursts and calls; of it, the burst under way is what came last.
 */
void passed_settle(struct thread *thread, const struct thread_rules *rules, uint64_t now);

#endif
