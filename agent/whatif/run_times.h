/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `phasemux whatif` takes from a report: the wall time, and the computing time of each rank in each phase. All times are
 * seconds of a rank, in the mean of its threads.
 */
#ifndef PHASEMUX_AGENT_WHATIF_RUN_TIMES_H
#define PHASEMUX_AGENT_WHATIF_RUN_TIMES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define RUN_TIMES_PHASES_MAX 256 /* phases behind these count as outside of all phases */
#define RUN_TIMES_ROWS_MAX   512

/* The time of the ranks that execute a phase, or that execute any of several phases. */
struct times {
	double ranks;      /* number of these ranks */
	double mean, most; /* over these ranks */
	double slowest;    /* rank with most */
};

struct phase_times {
	const json_t *phase;
	struct times own;
	double error; /* half-width of the 95% interval of its time, as a part of it; 0: exact or not known */
	/*
	 * Phases of one place that different ranks execute are one set, in which ranks do the same work. `set` is the lowest
	 * phase of the set in the order of the report, from 0; of a phase without others it is the phase itself.
	 */
	size_t set, next; /* next: the next higher phase of the set; the number of phases: there is none */
	struct times all; /* of the set */
};

/* Bounds of the time of a rank in calls that is not waiting for the computing of others, in seconds. */
struct communication {
	double least, most; /* most is 0: not known, or no other rank */
};

struct run_times {
	const json_t *report;
	const json_t *caches; /* what was simulated of other caches (caches.h); NULL: nothing */
	double wall;
	double ranks;
	double threads; /* number of threads of a rank, in the mean */
	bool missing;   /* some rank has left nothing */
	bool deciles;   /* rows are deciles of the ranks, and not ranks */
	size_t phases, rows;
	struct phase_times phase[RUN_TIMES_PHASES_MAX];
	double rank[RUN_TIMES_ROWS_MAX];    /* the rank of each row */
	double weight[RUN_TIMES_ROWS_MAX];  /* part of all ranks that the row stands for */
	double useful[RUN_TIMES_ROWS_MAX];  /* computing time */
	double calls[RUN_TIMES_ROWS_MAX];   /* time in calls; 0: not known */
	struct communication communication; /* set by communication_read() */
	double *cell; /* the time of each row in each phase, as of ranks_fit() */
};

/*
 * Reads a report that report_is_valid() accepts. The report must live as long as `run`. Returns false, with one line in `why`,
 * if the report does not have these times.
 */
bool run_times_read(struct run_times *run, const json_t *report, char *why, size_t why_size);

void run_times_fini(struct run_times *run);

/* Returns the time of a row in a phase, or outside of all phases if `phase` is run->phases. */
double run_times_cell(const struct run_times *run, size_t row, size_t phase);

/* Returns the place of the phase with this number in `phase`, or -1 if there is none. */
int run_times_find(const struct run_times *run, double id);

/* Returns the mean computing time of a rank outside of all phases. */
double run_times_rest(const struct run_times *run);

#endif
