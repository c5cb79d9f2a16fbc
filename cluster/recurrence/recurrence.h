/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Returns the call that comes back most regularly, in a program whose calls do not fold into loops because each round
 * has some other calls, or has them in another order.
 *
 * Rounds are the gaps between two calls of one path, in calls. Gaps that follow each other are compared. If calls were
 * drawn independently, and f were the path's share of them, the gaps would be geometric, and two of them would differ
 * by (1 - f) / (2 - f) of their sum in the mean. The likeness of the rounds is the part of this by which they differ
 * less: 1 if all gaps are equal, and about 0 if the calls come at random.
 *
 * González García (thesis, section 8.2.1) finds iterations by the autocorrelation of a signal of durations. A lag
 * blurs as soon as rounds differ in length, and gaps do not. They need no window either: what is kept of each path are
 * a few sums over the whole run, so that a round may be of any length.
 *
 * Plain data without pointers. One thread uses it.
 */
#ifndef PHASEMUX_CLUSTER_RECURRENCE_RECURRENCE_H
#define PHASEMUX_CLUSTER_RECURRENCE_RECURRENCE_H

#include <stdbool.h>
#include <stdint.h>

#define RECURRENCE_PATHS    256 /* whose gaps are kept; calls of others only count */
#define RECURRENCE_SAMPLE   16  /* gaps of a path that are kept one by one */
#define RECURRENCE_LIKENESS 0.5 /* least likeness of rounds */
#define RECURRENCE_ROUND    3 /* least calls of a round: two calls alternate easily without a reason */
#define RECURRENCE_KNOWN    4 /* at least 1 / RECURRENCE_KNOWN of all calls were added */

/* What is kept of the calls of a path. */
struct recurrence_path {
	uint64_t calls;
	uint64_t last_call, last_ticks;      /* calls and ticks of all paths up to its last call */
	uint64_t gap[3];                     /* the last ones, the latest first */
	uint64_t row;                        /* number of gaps between which no calls were missed */
	uint64_t pairs;                      /* number of gaps that followed another one */
	uint64_t differences, sums;          /* of the two gaps of each pair */
	uint64_t gaps, gap_calls, gap_ticks; /* number of all gaps, and their length */
	/* while there is a centre: number of gaps, number of those about as long as the centre, and their length */
	uint64_t counted, near, near_calls;
	uint64_t long_gaps; /* those of 1.75 times the centre or more */
	/* pairs of gaps that together are about as long as the centre, and follow each other, or have one between them */
	uint64_t parts, parts_apart;
	uint32_t centre;                    /* median of the gaps; 0: there are too few */
	uint32_t stretch;                   /* in which its last call was made */
	uint32_t sample[RECURRENCE_SAMPLE]; /* gaps from anywhere in the run, each of them as likely */
};

/* Zeros are no calls. */
struct recurrences {
	uint64_t calls, ticks; /* of all paths */
	uint32_t stretch;      /* number of times that calls were missed */
	uint32_t paths;        /* in use */
	struct recurrence_path path[RECURRENCE_PATHS];
};

_Static_assert(sizeof(struct recurrences) <= 65536, "the memory of a thread is bounded");

/* The call that comes back most regularly. Zeros: there is none. */
struct recurrence {
	uint32_t symbol; /* its path */
	double likeness; /* RECURRENCE_LIKENESS .. 1 */
	double rounds; /* number of them, if all calls of the program are like those that were added */
	double calls, ticks; /* of a round, in the mean */
	double time_share;   /* of its rounds, 0.5 .. 1 */
};

/* Adds a call. symbol: its path. ticks: of the burst before it, and of the call. */
void recurrence_add(struct recurrences *recurrences, uint32_t symbol, uint64_t ticks);

/* Notes that calls were missed after the last one. What lies between is no gap. */
static inline void recurrence_miss(struct recurrences *recurrences)
{
	recurrences->stretch++;
}

/*
 * Finds the call that comes back most regularly. If another one is nearly as regular and comes back much more often, its
 * rounds are parts of those of the first, and it is found instead. all_calls: with those that were not added. It has 0 rounds
 * if no rounds are alike and have half of the time, or if too few calls were added. recurrences NULL: there are none.
 */
struct recurrence recurrence_find(const struct recurrences *recurrences, uint64_t all_calls);

#endif
