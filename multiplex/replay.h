/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What would multiplexing have cost? Bursts of which every counter is known are replayed through the
 * schemes, sums and estimates of a real run, each time with all but one group hidden, and the
 * estimates are compared with the truth (thesis 7.3).
 */
#ifndef PHASEMUX_MULTIPLEX_REPLAY_H
#define PHASEMUX_MULTIPLEX_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "multiplex/plan.h"
#include "multiplex/scheme.h"

/* Arrays of `count`, the caller's; in any order. */
struct replay_bursts {
	size_t count;
	const uint32_t *task;  /* rank, or a number per thread */
	const double *begin;   /* seconds */
	const double *seconds; /* duration */
	const uint32_t *phase; /* 1 .. phases; 0: of none, left out */
	unsigned phases;
	const uint64_t *values; /* count x plan.events, row-major, in the order of the events */
};

struct replay_setup {
	struct plan plan;
	enum scheme_kind scheme;
	double quantum; /* seconds that a group stays */
	double read;    /* share of the bursts that is read, 0 < read <= 1 */
	unsigned trials;
	uint64_t seed;
	/* For each event the common event to whose mean errors are related: its relevance. */
	uint8_t reference[PLAN_EVENTS_MAX];
	/* Called after every trial when not NULL. */
	void (*progress)(void *data);
	void *data;
};

/* One phase and counter over all trials. */
struct replay_cell {
	double truth;     /* mean per burst */
	double relevance; /* truth over the truth of its reference */
	unsigned seen;    /* trials in which it was observed at all */
	unsigned stated;  /* trials that stated an interval */
	unsigned covered; /* of those, how many hold the truth */
	double error;     /* mean weighted error: relative error x relevance, of 1 at most */
	double error_max;
	double width;    /* mean weighted half-width of the stated intervals */
	double plain;    /* mean weighted error of the plain mean of the observed bursts */
	double relative; /* mean of |estimate - truth| / truth; NAN where the truth is 0 */
};

/*
 * What errors of a counter are related to: its reference, or itself where it counts more than that
 * (several slots or entries a cycle), so that none weighs more than the cycles do.
 */
static inline double replay_whole(double truth, double reference)
{
	return truth > reference ? truth : reference;
}

/*
 * Replays; cells is phases x plan.events, row-major, phase 1 first; common events have cells too.
 * 0, -ENOMEM, -EINVAL (no burst in any phase, read or quantum not positive).
 */
int replay_run(const struct replay_bursts *bursts, const struct replay_setup *setup,
		struct replay_cell *cells);

/* The cells of counters that are not common, summed up over phases. */
struct replay_summary {
	double mean_weighted_error, max_weighted_error, plain_mean_weighted_error;
	double half_width; /* mean weighted half-width of the stated intervals; NAN: none stated */
	double coverage;   /* share of the stated intervals that hold the truth; NAN: none stated */
	double stated;     /* share of the observed estimates that state an interval */
	double observed;   /* share of phases, counters and trials that were observed */
};

void replay_summarise(const struct replay_cell *cells, unsigned phases, const struct plan *plan,
		unsigned trials, struct replay_summary *out);

#endif
