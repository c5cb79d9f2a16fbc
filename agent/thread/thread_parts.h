/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of struct thread that belong to one topic each. The functions that use a part stand above thread.h,
 * in the file that the part's comment names.
 */
#ifndef PHASEMUX_AGENT_THREAD_THREAD_PARTS_H
#define PHASEMUX_AGENT_THREAD_THREAD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/thread/site.h"

#define POLLING_ROW  64 /* gaps in a row after which polling has gone on for a while */
#define POLLING_VAIN 3  /* vain answers in a row after which answers are not heeded */

/* What is known of the thread's polling (polling.h). */
struct polling {
	bool asks;     /* the intercepted call under way only asks */
	bool asked;    /* the burst under way began after a call that only asks */
	bool answered; /* that call said that what it asked for has come */
	uint8_t vain; /* answers in a row after which the program polled on, at most POLLING_VAIN */
	uint32_t row; /* gaps in a row, at most POLLING_ROW */
	/* ticks: when the kernel was asked last (0: it was not), and the thread's processor time then */
	uint64_t looked, ran;
};

/* A burst and the call that ended it, which were timed; times in ticks. */
struct skip_pair {
	uint64_t burst, call;
	uint32_t span, from;       /* of the burst; the site where the next one begins */
	uint16_t length;           /* number of the length in the thread's table */
	bool placed, waits, nests; /* placed: by span and length; otherwise the burst is short */
	bool polls;                /* it was no burst but polling (polling.h) */
	bool asks;                 /* the call only asks */
	const void *site, *frame;
};

/* The window of calls under way, and the calls that are skipped after it (skipping.h). */
struct skip_window {
	uint32_t multiple; /* windows skipped for each one that is observed, about; 0: none */
	uint32_t going;    /* calls that may be skipped in the burst under way; 0: none are */
	uint32_t resume; /* calls that may still be skipped if the program polls on after an answer */
	uint16_t calm;   /* number of quick calls in a row, at most CALLS_CALM */
	uint16_t pairs; /* number of pairs of this window that are known */
	bool timed;     /* the burst that ended last is in the next pair; its call is not yet */
	uint64_t doubt; /* ticks of what was long among skipped calls */
	/* mean ticks of skipped calls when nothing was long, and as many as the window promised */
	double usual_ticks, usual_expected;
};

/* The rests of the thread (resting.h). All times in ticks. */
struct rest_plan {
	uint64_t since;  /* when the rest under way began; 0: the thread does not rest */
	uint64_t until;  /* when the rest under way ends, as in struct rest (ns) */
	uint64_t wanted; /* length of the next rest; 0: none is wanted */
	uint64_t due; /* random time; the next rest begins with the first call that returns after it */
	uint64_t woken;    /* when the last rest ended, or the budget was last checked */
	double spent;      /* cost of calls when the budget was last checked */
	uint32_t multiple; /* the thread's skip_window.multiple at that time */
	bool noted; /* bursts are noted, from which those of rests are estimated (rest_estimate.h) */
};

struct call_arguments;
struct loops;
struct recurrences;

/*
 * What it costs to fold calls into the structure, and the pause of it if that is too much (structure_pay). Times are
 * in ticks, and those of the program without what is unobserved.
 */
struct fold_cost {
	uint64_t since;    /* time of the program from which the cost is measured */
	uint64_t ticks;    /* that the calls which were timed took */
	uint32_t timed;    /* number of these calls */
	uint32_t till_due; /* calls before the next one that is timed; 0 in a pause */
	uint64_t calls;    /* folded since then, up to the next one that is timed */
	uint64_t until;    /* time of the program at which the pause ends; 0: calls are folded */
	uint64_t missed,
			missed_inside; /* calls in the pause that are no hole yet, and their ticks */
};

/* The structure of the thread's calls (structure.h). */
struct thread_structure {
	struct loops *loops; /* mapped; NULL: it is not kept */
	size_t bytes;
	/* regular calls, while the text has no iteration; mapped; NULL: they are not looked for */
	struct recurrences *recurrences;
	size_t recurrences_bytes;
	struct call_arguments *arguments; /* of the same calls; mapped; NULL: they are not kept */
	size_t arguments_bytes;
	struct call_arguments *
			noting; /* notes the arguments of the next call; NULL: they are not wanted */
	struct leads *leads; /* which ranks read (agent/leads/leads.h); mapped; NULL: all of them */
	size_t leads_bytes;
	struct region *region; /* the region of the run (agent/region/region.h); mapped; NULL: none */
	size_t region_bytes;
	/* a sample of the iterations (agent/iterations/iterations.h); mapped; NULL: there is none */
	struct iterations *iterations;
	size_t iterations_bytes;
	uint32_t anchor;   /* site of the call that ends an iteration; LOOPS_ANY: not known */
	bool measures;     /* the iteration under way is measured */
	bool spared;       /* others read for this rank */
	uint64_t burst;    /* ticks of bursts since the last call that is part of the structure */
	uint64_t keep_due; /* time in ticks from which it is kept in the spool again */
	struct fold_cost cost;
	uint64_t look_due; /* number of calls from which on the text is searched for an iteration again */
	uint32_t handed_on; /* number of calls of the round under way that `recurrences` has */
	bool repeats;       /* the text has an iteration, and `recurrences` gets no calls */
	bool finished;      /* no more calls are added, and all are folded */
};

#define REST_ESTIMATE_COUNTS 5 /* kinds of counts other than bursts by length */

/* Bursts in the window that have one number in the table of lengths. */
struct rest_length {
	uint32_t window;   /* number of the last window that had any */
	uint32_t previous; /* number of the one before it that had any */
	uint32_t bursts;
	uint16_t span;
	uint64_t ticks;
	double owed, owed_ticks; /* part of a burst, 0 .. 1, that is not yet added, and its time */
	double before, before_ticks; /* bursts for each tick of the previous window, and their ticks */
};

/* The present window of the run (rest_estimate.h). */
struct rest_estimate {
	uint32_t window;      /* number of the present window; 0: there was none */
	uint64_t since;       /* ticks, up to which time is in `awake` or `rested` */
	uint64_t unobserved;  /* the thread's `unobserved` at that time */
	double awake, rested; /* ticks of the window: observed, and in rests */
	double before;        /* observed ticks of the previous window; 0: there was none */
	double first_reach; /* factor on the variances of the first window, if it is the previous one */
	uint64_t count[REST_ESTIMATE_COUNTS]; /* values at the start of the window */
	double owed[REST_ESTIMATE_COUNTS];    /* part of a count, 0 .. 1, that is not yet added */
	uint32_t lengths;                     /* number of lengths with bursts in the window */
	uint16_t touched[LENGTHS_MAX];        /* numbers of these lengths */
	struct rest_length length[LENGTHS_MAX];
};

#endif
