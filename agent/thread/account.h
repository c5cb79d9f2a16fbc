/* SPDX-License-Identifier: BSD-3-Clause */
/* The counts of one thread, and the agent's work in it. Plain arithmetic. */
#ifndef PHASEMUX_AGENT_THREAD_ACCOUNT_H
#define PHASEMUX_AGENT_THREAD_ACCOUNT_H

/* Counts of one thread as plain numbers; ticks are those of its clock. */
struct account {
	double calls, bursts, ticks;
	double skipped;           /* number of calls that were skipped; part of `calls` */
	double polls, poll_ticks; /* between calls that only ask */
	double short_bursts, short_ticks;
	double unclassified_bursts, unclassified_ticks; /* no later training can classify them */
	double lost, hook_ticks, reads, read_ticks, switches, switch_ticks, service_ticks;
	double sample_ticks; /* in the kernel */
	double slices, samples,
			lost_samples; /* slices cut; the kernel's samples in bursts; samples lost */
	double rested_calls, rested_ticks; /* calls in rests, and the rests' length (rest.h) */
	double spared_bursts;              /* that were not read because others read for the rank */
	/* state L (agent/leads/leads.h): time in it, calls that left the thread in it, and calls with which it was left */
	double repeated_ticks, repeated_calls, left_loops;
	double checks, differing_checks; /* of arguments in state L; those that found others than when leads were named */
	/* lives in the struct (thread_life); late_ticks: end of the last life, 0 if no thread lives now */
	double threads, ended, ended_ticks, late_ticks;
	double paths; /* call paths that are kept */
	double merged_calls; /* calls whose path had no room, or could not be learnt (agent/thread/path.h) */
};

/* Time that the agent took from threads while the program ran, by kind of work. */
struct work {
	double calls; /* at both ends of calls, without the other kinds */
	double reads, switches;
	double services; /* drains, rounds, trainings, and learning new call paths */
	double samples;  /* in the kernel */
};

/*
 * Returns how many threads existed on average during the run, which lasted `ticks`. A thread
 * that ended counts while it lived. A thread that exists at the end counts from the start of the run, or from
 * the end of the thread whose place it took. Therefore the serial part before a pool of threads is made is idle
 * time of the pool.
 */
double account_threads(const struct account *account, double ticks);

/*
 * Returns how many of `all` threads existed on average during `time`, if `ended` of them ended, which lived for
 * `ended_time` together.
 */
double account_mean_threads(double all, double ended, double ended_time, double time);

/* Returns the agent's work in the thread in ticks. skip_ticks: cost of a call that is skipped. */
struct work account_work(const struct account *account, double skip_ticks);

double work_sum(const struct work *work);

#endif
