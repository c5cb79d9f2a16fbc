/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Estimates from the sums: for a phase (a set of prototypes), the mean of every counter per burst with its
 * 95% confidence interval.
 */
#ifndef PHASEMUX_MULTIPLEX_ESTIMATE_ESTIMATE_H
#define PHASEMUX_MULTIPLEX_ESTIMATE_ESTIMATE_H

#include <stdbool.h>
#include <stdint.h>

#include "multiplex/estimate/sums.h"

#define ESTIMATE_FOLLOWS 2 /* number of the first common events: cycles and instructions */

struct estimate {
	double mean;       /* per burst */
	double ci95;       /* half-width of the 95% interval; INFINITY: cannot be known */
	uint64_t observed; /* number of bursts in which it was counted; 0: none, and mean is NAN */
	/*
	 * How this error correlates with others, for error propagation. All 0 if uncorrelated. When the mean of
	 * common event k is off by d, this one is off by follows[k] x d, which is the part `shared` of the
	 * interval's square. The rest is correlated with that of the events at the other positions of its
	 * group.
	 */
	double follows[ESTIMATE_FOLLOWS];
	double shared;
	uint8_t group, position; /* group: from 1 */
	float correlation[PLAN_GROUP_EVENTS_MAX];
};

struct phase_estimate {
	double bursts;            /* number of all bursts, estimated by the weights of those read */
	uint64_t read;            /* number of bursts read */
	uint64_t slices;          /* how many of these are slices of longer bursts */
	double seconds;           /* time of the bursts read, not weighted */
	struct estimate duration; /* seconds */
	double duration_sd;       /* standard deviation between bursts, seconds */
	double common_correlation; /* of the errors of the means of the first two common events */
	/*
	 * Factor by which intervals are wider than if every burst had been read: the mean over events that
	 * are not common to all groups; NAN: not known.
	 */
	double widened;
	struct estimate event[PLAN_EVENTS_MAX]; /* by event number of the plan */
};

/*
 * The bursts of a phase that were not read: their number and their time, with the variances and the covariance
 * of both. The two are estimates if the phase of some bursts is not certain.
 */
struct phase_unread {
	double bursts, seconds;
	double bursts2, bursts_seconds, seconds2;
};

/*
 * Estimates the phase that consists of the prototypes p for which member[p] is true (as many as the sums have).
 * unread: NULL if it is not known; then the weights of the read bursts give the number of all. Reads the sums
 * only.
 */
void estimate_phase(const struct sums *sums, const bool *member, const struct phase_unread *unread,
		struct phase_estimate *out);

/* How the length of a phase's bursts changes while the run goes on. */
struct drift {
	double change; /* share of the mean length by which it grows over the time of the phase; NAN: not known */
	double ci95;
};

/*
 * Estimates the drift of the phase that consists of the prototypes p for which member[p] is true, by a straight line
 * through the lengths of its bursts that were read. It is from the first to the last burst of a phase whose bursts
 * are spread evenly, and otherwise of a time with the same variance. The interval says whether the change is more
 * than bursts vary anyway, even if all of them were read.
 */
struct drift estimate_drift(const struct sums *sums, const bool *member);

/* The spread of a counter between the bursts of a phase. */
struct spread {
	double sd;        /* standard deviation; NAN: not observed */
	bool deciles;     /* decile[] is known */
	double decile[9]; /* 10%, 20%, ... 90%; within 3% */
};

/*
 * Fills out with the spread of every event (by event number) over the bursts of the prototypes p for which
 * member[p] is true. Deciles are kept for the first 16 phases, by the labels that bursts had when they were
 * counted (quantum_label). phase: that label, 0 for none. Deciles are not known if half of the bursts had
 * another label.
 */
void estimate_spread(const struct sums *sums, const bool *member, uint32_t phase,
		struct spread out[PLAN_EVENTS_MAX]);

/*
 * Returns the half-width of a mean's interval as it is stated: 0 if the mean is exact, NAN if the interval is not
 * known. exact: nothing was estimated. A half-width that is only a rounding error counts as 0 if `exact`, else as
 * not known: an event that no burst of its group had may be in others.
 */
double estimate_interval(double mean, double ci95, bool exact);

#endif
