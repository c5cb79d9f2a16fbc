/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is reduced over the ranks beside the sums: how many bursts of which kind there were, and what
 * phasemux itself did. Made from what each thread has counted, while the process lives as from what
 * a dead one has left.
 */
#ifndef PHASEMUX_AGENT_TOTALS_H
#define PHASEMUX_AGENT_TOTALS_H

#include "agent/unread.h"

/* The thread's clock, and what the run knows in ticks of it. */
struct totals_clock {
	double ns_per_tick;
	double passed_ticks; /* what a call costs that goes by */
	double burst_min;    /* shorter bursts are short */
};

/* What phasemux did in threads while the program ran, by kind: time. */
struct work {
	double calls; /* at both ends of calls, but for the rest */
	double reads, switches;
	double services; /* drains, rounds, trainings; call paths that were new */
	double samples;  /* in the kernel */
};

/* All doubles: ranks are merged by adding. */
struct totals {
	struct tally compute, shorts, unclassified;
	struct tally polling; /* times between calls that only ask, which are no bursts (polling.h) */
	struct tally unclaimed; /* of the unclassified bursts, those that were read: no prototype claims them */
	struct unread unread; /* bursts that were not read, placed by call paths and length */
	double calls, passed, reads, switches, lost;
	double threads, ended_threads; /* all that were observed; of these, those that ended */
	/* time that the ended threads lived, less the time before the others took over their places */
	double ended_seconds;
	double beyond_threads, beyond_seconds; /* not observed, and their time on processors */
	struct work work;                      /* seconds */
	double slices, samples, lost_samples;
	double paths, merged_calls; /* as in struct account */
	double rested_calls, rested_seconds;
	double agent_seconds, agent_bytes;
	double start_seconds, end_seconds; /* of these, by process: its threads waited so long */
	double outside_mpi_seconds; /* of all threads while their rank was not in MPI; 0: not known */
};

/* What one thread has counted, as plain numbers; ticks are of its clock. */
struct account {
	double calls, bursts, ticks;
	double passed;            /* of the calls, those that were not looked at */
	double polls, poll_ticks; /* between calls that only ask */
	double short_bursts, short_ticks;
	double unclassified_bursts, unclassified_ticks; /* for good */
	double lost, hook_ticks, reads, read_ticks, switches, switch_ticks, service_ticks;
	double sample_ticks; /* in the kernel */
	double slices, samples,
			lost_samples;      /* of the kernel, in bursts; cut from them; not taken */
	double rested_calls, rested_ticks; /* of the calls, those in rests; the rests (rest.h) */
	/* of the place (struct thread_life); ended, and late: where a thread is there */
	double threads, ended, ended_ticks, late_ticks;
	double paths;        /* call paths that are kept */
	double merged_calls; /* whose path found no room, or could not be learnt (sampling/path.h) */
};

/*
 * Returns how many threads existed on average during the run, which lasted `ticks` or `wall_seconds`. A thread
 * that ended counts while it lived. A thread that exists at the end counts from the start of the run, or from
 * the end of the thread whose place it took, so that the serial part before a pool of threads is made is idle
 * time of the pool.
 */
double account_threads(const struct account *account, double ticks);
double totals_threads(const struct totals *totals, double wall_seconds);

/* What we did in the thread, in ticks, where a call that goes by costs so much. */
struct work account_work(const struct account *account, double passed_ticks);

double work_sum(const struct work *work);

/*
 * Adds a thread: its account, and the bursts that its sites say were not read, placed by call paths and
 * length (agent/unread.h has phase, prototypes and burst_min). Start, end and bytes of the agent, and the
 * time outside of MPI, are the caller's.
 */
void totals_add(struct totals *totals, const struct account *account,
		const struct site_table *sites, const uint32_t *phase, uint32_t prototypes,
		const struct totals_clock *clock);

#endif
