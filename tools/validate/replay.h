/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the error that multiplexing would have caused. Bursts of which every counter is known are replayed
 * through the schemes, sums and estimates of a real run. Each time all groups except one are hidden. The
 * estimates are compared with the truth (thesis 7.3).
 */
#ifndef PHASEMUX_TOOLS_VALIDATE_REPLAY_H
#define PHASEMUX_TOOLS_VALIDATE_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "multiplex/plan.h"
#include "multiplex/scheme/scheme.h"

/* The bursts, in any order. The arrays have `count` elements, and belong to the caller. */
struct replay_bursts {
	size_t count;
	const uint32_t *task;  /* rank, or a number per thread */
	const double *begin;   /* seconds */
	const double *seconds; /* duration */
	const uint32_t *phase; /* 1 .. phases; 0: none, and the burst is left out */
	unsigned phases;
	const uint64_t *values; /* count x plan.events, row-major, in the order of the events */
};

struct replay_setup {
	struct plan plan;
	enum scheme_kind scheme;
	double quantum; /* seconds for which a group is counted */
	double read;    /* share of the bursts that is read, 0 < read <= 1 */
	unsigned trials;
	uint64_t seed;
	/* For each event, the common event to whose mean its errors are related, which gives its relevance. */
	uint8_t reference[PLAN_EVENTS_MAX];
	/* Called after every trial, if not NULL. */
	void (*progress)(void *data);
	void *data;
};

/* One phase and counter over all trials. */
struct replay_cell {
	double truth;     /* mean per burst */
	double relevance; /* truth over the truth of its reference */
	unsigned seen;    /* number of trials in which it was observed */
	unsigned stated;  /* number of trials that stated an interval */
	unsigned covered; /* number of stated intervals that contain the truth */
	double error;     /* mean weighted error: relative error x relevance, of 1 at most */
	double error_max;
	double width;    /* mean weighted half-width of the stated intervals */
	double plain;    /* mean weighted error of the plain mean of the observed bursts */
	double relative; /* mean of |estimate - truth| / truth; NAN if the truth is 0 */
};

/*
 * Returns the value to which errors of a counter are related: its reference, or its own truth if that is larger
 * (several slots or entries a cycle). Therefore no counter weighs more than the cycles do.
 */
static inline double replay_whole(double truth, double reference)
{
	return truth > reference ? truth : reference;
}

/*
 * Replays the bursts. cells is phases x plan.events, row-major, phase 1 first; common events have cells too.
 * Returns 0 or -errno: -ENOMEM; -EINVAL (no burst in any phase, read or quantum not positive).
 */
int replay_run(const struct replay_bursts *bursts, const struct replay_setup *setup,
		struct replay_cell *cells);

/* Summary of the cells of counters that are not common, over phases. */
struct replay_summary {
	double mean_weighted_error, max_weighted_error, plain_mean_weighted_error;
	double half_width; /* mean weighted half-width of the stated intervals; NAN: none stated */
	double coverage; /* share of the stated intervals that contain the truth; NAN: none stated */
	double stated;   /* share of the observed estimates that state an interval */
	double observed; /* share of phases, counters and trials that were observed */
};

/* What a summary is made of: sums over cells. Zeros: no cell. */
struct replay_sums {
	double seen, stated, covered, error, error_max, plain, width;
};

void replay_add_cell(struct replay_sums *sums, const struct replay_cell *cell);

/* Makes the summary of the cells that were added. trials: of all cells, whether they were observed or not. */
struct replay_summary replay_summary_of(const struct replay_sums *sums, double trials);

void replay_summarise(const struct replay_cell *cells, unsigned phases, const struct plan *plan,
		unsigned trials, struct replay_summary *out);

#endif
