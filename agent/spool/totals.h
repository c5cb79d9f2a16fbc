/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Totals that are reduced over the ranks in addition to the sums: the number of bursts of each kind, and the
 * agent's own work. They are made from the counts of each thread, of a live process or of a dead one's spool.
 */
#ifndef PHASEMUX_AGENT_SPOOL_TOTALS_H
#define PHASEMUX_AGENT_SPOOL_TOTALS_H

#include "agent/region/region_totals.h"
#include "agent/spool/unread.h"
#include "agent/thread/account.h"

/* The thread's clock, and values in its ticks. */
struct totals_clock {
	double ns_per_tick;
	double skip_ticks; /* cost of a call that is skipped */
	double burst_min;  /* bursts below this length are short */
};

/* All members are doubles, so that ranks are merged by adding. */
struct totals {
	struct tally compute, shorts, unclassified;
	struct tally polling; /* time between calls that only ask, which is no burst (polling.h) */
	struct tally unclaimed; /* unclassified bursts that were read, but that no prototype claims */
	struct unread unread;   /* bursts that were not read, placed by call paths and length */
	double calls, skipped, reads, switches, lost;
	double threads, ended_threads; /* number of observed threads, and of those that ended */
	/* lifetime of the ended threads, minus the time before other threads took over their places */
	double ended_seconds;
	double beyond_threads, beyond_seconds; /* threads not observed, and their CPU time */
	struct work work;                      /* seconds */
	double slices, samples, lost_samples;
	double paths, merged_calls; /* call paths that are kept; calls with another path, or none */
	double rested_calls, rested_seconds;
	double spared_bursts, repeated_seconds, repeated_calls, left_loops, checks,
			differing_checks; /* as in struct account */
	double agent_seconds, agent_bytes;
	double start_seconds, end_seconds; /* processes' waits for the agent's start and end */
	double helper_seconds;             /* processor time of the agent's own threads */
	struct region_totals region;
	double outside_mpi_seconds; /* of all threads while their rank was not in MPI; 0: not known */
};

/* Returns how many threads existed on average during the run, which lasted `wall_seconds` (account_threads). */
double totals_threads(const struct totals *totals, double wall_seconds);

/*
 * Adds a thread's counts and its unread bursts, which are placed by call paths and length
 * (agent/spool/unread.h has phase, prototypes and burst_min). The caller sets the agent's start, end and
 * bytes, and the time outside of MPI.
 */
void totals_add(struct totals *totals, const struct account *account,
		const struct site_table *sites, const uint32_t *phase, uint32_t prototypes,
		const struct totals_clock *clock);

#endif
