/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals that are reduced over the ranks in addition to the sums: the number of bursts of each kind, and the
 * agent's own work. They are made from the counts of each thread, of a live process or of a dead one's spool.
 */
#ifndef PHASEMUX_AGENT_TOTALS_H
#define PHASEMUX_AGENT_TOTALS_H

#include "agent/unread.h"

/* The thread's clock, and values in its ticks. */
struct totals_clock {
	double ns_per_tick;
	double passed_ticks; /* cost of a call that is skipped */
	double burst_min;    /* bursts below this length are short */
};

/* Time that the agent took from threads while the program ran, by kind of work. */
struct work {
	double calls; /* at both ends of calls, without the other kinds */
	double reads, switches;
	double services; /* drains, rounds, trainings, and learning new call paths */
	double samples;  /* in the kernel */
};

/* All members are doubles, so that ranks are merged by adding. */
struct totals {
	struct tally compute, shorts, unclassified;
	struct tally polling; /* time between calls that only ask, which is no burst (polling.h) */
	struct tally unclaimed; /* unclassified bursts that were read, but that no prototype claims */
	struct unread unread;   /* bursts that were not read, placed by call paths and length */
	double calls, passed, reads, switches, lost;
	double threads, ended_threads; /* number of observed threads, and of those that ended */
	/* lifetime of the ended threads, minus the time before other threads took over their places */
	double ended_seconds;
	double beyond_threads, beyond_seconds; /* threads not observed, and their CPU time */
	struct work work;                      /* seconds */
	double slices, samples, lost_samples;
	double paths, merged_calls; /* call paths that are kept; calls with another path, or none */
	double rested_calls, rested_seconds;
	double agent_seconds, agent_bytes;
	double start_seconds, end_seconds; /* processes' waits for the agent's start and end */
	double outside_mpi_seconds; /* of all threads while their rank was not in MPI; 0: not known */
};

/* Counts of one thread as plain numbers; ticks are those of its clock. */
struct account {
	double calls, bursts, ticks;
	double passed;            /* number of calls that were skipped; part of `calls` */
	double polls, poll_ticks; /* between calls that only ask */
	double short_bursts, short_ticks;
	double unclassified_bursts, unclassified_ticks; /* no later training can classify them */
	double lost, hook_ticks, reads, read_ticks, switches, switch_ticks, service_ticks;
	double sample_ticks; /* in the kernel */
	double slices, samples,
			lost_samples; /* slices cut; the kernel's samples in bursts; samples lost */
	double rested_calls, rested_ticks; /* calls in rests, and the rests' length (rest.h) */
	/* lives in the struct (thread_life); late_ticks: end of the last life, 0 if no thread lives now */
	double threads, ended, ended_ticks, late_ticks;
	double paths;        /* call paths that are kept */
	double merged_calls; /* calls whose path had no room, or could not be learnt (sampling/path.h) */
};

/*
 * Returns how many threads existed on average during the run, which lasted `ticks` or `wall_seconds`. A thread
 * that ended counts while it lived. A thread that exists at the end counts from the start of the run, or from
 * the end of the thread whose place it took. Therefore the serial part before a pool of threads is made is idle
 * time of the pool.
 */
double account_threads(const struct account *account, double ticks);
double totals_threads(const struct totals *totals, double wall_seconds);

/* Returns the agent's work in the thread in ticks. passed_ticks: cost of a call that is skipped. */
struct work account_work(const struct account *account, double passed_ticks);

double work_sum(const struct work *work);

/*
 * Adds a thread's counts and its unread bursts, which are placed by call paths and length (agent/unread.h has
 * phase, prototypes and burst_min). The caller sets the agent's start, end and bytes, and the time outside of
 * MPI.
 */
void totals_add(struct totals *totals, const struct account *account,
		const struct site_table *sites, const uint32_t *phase, uint32_t prototypes,
		const struct totals_clock *clock);

#endif
