/* SPDX-License-Identifier: BSD-3-Clause */
/* How the program that replays spends time, and what it does if nothing goes on: on a machine, or on a simulated one. */
#ifndef PHASEMUX_TOOLS_REPLAY_PROGRAM_PACE_H
#define PHASEMUX_TOOLS_REPLAY_PROGRAM_PACE_H

#define PACE_SHORT                                                                                 \
	20e-6 /* shorter bursts are spent as wall time: to ask for the CPU time takes too long */

/* Starts to watch this rank. stall: seconds after which a rank that makes no progress ends the replay. */
void pace_start(int rank, double stall);

/* Says that the burst before the next call begins. */
void pace_burst(void);

/* Says that the burst has ended, and this call begins. */
void pace_call(const char *name);

/* Says that all calls are made, and the rank waits for the others. */
void pace_end(void);

/* Stops the watch. */
void pace_stop(void);

/* Returns seconds of the clock by which the replay is measured. */
double pace_now(void);

/* Computes for a time. since: when it began, by pace_now. What the rank did since then is a part of the time. */
void pace_compute(double since, double seconds);

/* Lets the time pass that calls took which are not made. */
void pace_pass(double seconds);

/* Returns the part of its bursts in which the rank had no processor. */
double pace_deprived(void);

#endif
