/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * From the sums: for a phase (a set of prototypes), the mean of every counter per burst with its
 * 95% confidence interval.
 */
#ifndef PHASEMUX_MULTIPLEX_ESTIMATE_H
#define PHASEMUX_MULTIPLEX_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "multiplex/sums.h"

#define ESTIMATE_FOLLOWS 2 /* the first common events: cycles and instructions */

struct estimate {
	double mean;       /* per burst */
	double ci95;       /* half-width of the 95% interval; INFINITY: cannot be known */
	uint64_t observed; /* bursts in which it was counted; 0: not observed, mean is NAN */
	/*
	 * Whom its error goes with, for what is derived from several counters; all 0 where it goes
	 * with nobody's. When the mean of common event k is off by d, so is this by follows[k] x d,
	 * and that is `shared` of the interval's square. The rest is correlated with that of the
	 * events which stand at the other positions of its group.
	 */
	double follows[ESTIMATE_FOLLOWS];
	double shared;
	uint8_t group, position; /* group: from 1 */
	float correlation[PLAN_GROUP_EVENTS_MAX];
};

struct phase_estimate {
	double bursts;             /* read, weighted: an estimate of how many there were */
	uint64_t read;             /* read */
	double seconds;            /* of the read ones, not weighted */
	struct estimate duration;  /* seconds */
	double duration_sd;        /* between bursts, seconds */
	double common_correlation; /* of the errors of the means of the first two common events */
	/*
	 * How many times as wide the intervals of events that are not common to all groups are, as if
	 * every burst had been read: their mean; NAN: not known.
	 */
	double widened;
	struct estimate event[PLAN_EVENTS_MAX]; /* by event number of the plan */
};

/*
 * The bursts of a phase that were not read: how many, and their time. Both are estimates where it is not
 * certain of which phase a burst is: the variances of the two and their covariance.
 */
struct phase_unread {
	double bursts, seconds;
	double bursts2, bursts_seconds, seconds2;
};

/*
 * Estimates the phase made of those prototypes p for which member[p] is true (as many as the sums
 * have). unread: NULL where it is not known, and then the read ones stand for as many as they weigh.
 * Reads the sums only.
 */
void estimate_phase(const struct sums *sums, const bool *member, const struct phase_unread *unread,
		struct phase_estimate *out);

/* How a counter is spread between the bursts of a phase. */
struct spread {
	double sd;        /* standard deviation; NAN: not observed */
	bool deciles;     /* decile[] is known */
	double decile[9]; /* 10%, 20%, ... 90%; within 3% */
};

/*
 * The spread of every event (by event number) over the bursts of those prototypes. Deciles are kept
 * for the first 16 phases, by the labels that bursts had when they were counted (quantum_label):
 * phase is that label, 0 for none; they are not known where half of the bursts had another.
 */
void estimate_spread(const struct sums *sums, const bool *member, uint32_t phase,
		struct spread out[PLAN_EVENTS_MAX]);

/* The 97.5% quantile of Student's t: exact for few degrees of freedom, then Cornish-Fisher. */
double estimate_student(double df);

#endif
