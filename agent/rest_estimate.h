/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates what a thread did in its rests (rest.h), in which no call is looked at. A run is divided into
 * windows of about WINDOW_NS of observed time, with the rests between them. In the rests of a window the
 * thread is taken to have done the same as in its observed time, in proportion: bursts of each span and length,
 * short bursts, polling, and time inside of MPI. This is a ratio estimate by strata of time (Cochran 6.10),
 * and the variance of the number of bursts comes from the differences between successive windows (Cochran
 * 8.11).
 *
 * Estimated bursts are added to those that were not read, and are placed with them (unread.h).
 *
 * The thread itself calls these functions. A thread that never rests pays one test for each burst.
 */
#ifndef PHASEMUX_AGENT_REST_ESTIMATE_H
#define PHASEMUX_AGENT_REST_ESTIMATE_H

#include <stdint.h>

#include "agent/site.h"

#define REST_ESTIMATE_COUNTS 5 /* kinds of counts beside those of bursts by length */

/* Bursts of one number of the table of lengths in the window. */
struct rest_length {
	uint32_t window;   /* number of the last window that had any */
	uint32_t previous; /* number of the one before it that had any */
	uint32_t bursts;
	uint16_t span;
	uint64_t ticks;
	double owed, owed_ticks; /* part of a burst, 0 .. 1, that is not yet added, and its time */
	double before;           /* bursts for each tick of the previous window */
};

struct rest_estimate {
	uint32_t window;      /* number of the present one; 0: nothing is noted yet */
	uint64_t since;       /* when the window began, or the last rest in it ended */
	uint64_t unobserved;  /* of the thread, then */
	double awake, rested; /* ticks of the window: observed until then, and its rests */
	double before;        /* observed ticks of the window before; 0: there was none */
	uint64_t count[REST_ESTIMATE_COUNTS]; /* at the window's begin */
	double owed[REST_ESTIMATE_COUNTS];    /* as in rest_length */
	uint32_t lengths; /* that had bursts in the window, and which these are */
	uint16_t touched[LENGTHS_MAX];
	struct rest_length length[LENGTHS_MAX];
};

struct thread;

/* The first window begins at time now. */
void rest_estimate_start(struct thread *thread, uint64_t now);

/*
 * A rest begins at time now, when the first call returns that did so after the rest was due. So that the
 * observed time ends by chance, and not after what takes long, it ends when the rest was due. What began before
 * that counts in full.
 */
void rest_estimate_begin(struct thread *thread, uint64_t due, uint64_t now);

/*
 * The rest has ended at time `end`, and the first call since then begins at time now. What was under way between
 * began in the rest.
 */
void rest_estimate_end(struct thread *thread, uint64_t end, uint64_t now);

/*
 * Closes the window, if it has lasted for long enough. Call from time to time while the thread is awake, but not
 * just before a rest: the window is what tells of it.
 */
void rest_estimate_look(struct thread *thread, uint64_t now);

/* Closes the last window of a thread that ends or is observed no more. */
void rest_estimate_finish(struct thread *thread, uint64_t now);

/* Adds bursts to the window. Call only after rest_estimate_start. */
void rest_estimate_note(struct rest_estimate *estimate, uint32_t span, unsigned length,
		uint64_t bursts, uint64_t ticks);

#endif
