/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs that make more threads than are observed at a time: the places of those that ended, for the next
 * ones, and the threads for which there is no place. Of these it is known how many there were, and how long
 * they had a processor. Any thread of the process may call these functions.
 */
#ifndef PHASEMUX_AGENT_CROWD_H
#define PHASEMUX_AGENT_CROWD_H

#include "agent/preload.h"
#include "agent/thread.h"

/* Before any thread is met. 0 or -ENOMEM. */
int crowd_start(void);

/* In the child of a fork: it has neither places nor threads but the first. */
void crowd_forget(void);

/* Takes the place of a thread that ended. NULL: there is none. */
struct thread *crowd_take(void);

/* The thread of this place has ended, and nobody else gives it. */
void crowd_give(struct thread *thread);

/* The calling thread is not observed. */
void crowd_leave_out(struct preload_thread *slot);

/* How many threads were left out until now, and how many seconds they had a processor. */
void crowd_left_out(double *threads, double *seconds);

#endif
