/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Keeps the places of threads that ended, which the next threads take over, and a list of the threads that
 * found no place. The agent knows only the number and the processor time of the latter. Any thread of the
 * process may call these functions.
 */
#ifndef PHASEMUX_AGENT_CORE_CROWD_H
#define PHASEMUX_AGENT_CORE_CROWD_H

#include "agent/boundary/preload.h"
#include "agent/thread/thread.h"

/* Prepares the lists. Call before the first thread is met. Returns 0 or -ENOMEM. */
int crowd_start(void);

/* Undoes crowd_start. Call if no thread was met. */
void crowd_stop(void);

/* Empties the lists in the child of a fork, which has one thread and no places. */
void crowd_forget(void);

/* Returns the place of a thread that ended, for the calling thread, or NULL if there is none. */
struct thread *crowd_take(void);

/* Makes the place of a thread that has ended available. Call once for each thread. */
void crowd_give(struct thread *thread);

/* Notes that the calling thread is not observed. `slot` is the thread's, and is used until it ends. */
void crowd_leave_out(struct preload_thread *slot);

/* Sets the number of threads that were not observed up to now, and their processor time. */
void crowd_left_out(double *threads, double *seconds);

#endif
