/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A thread of our own, in processes without MPI: a program that calls no runtime leaves nobody else
 * to empty the rings of samples, to learn, and to change groups while it runs. It takes no signal,
 * and is no thread of the program to us.
 */
#ifndef PHASEMUX_AGENT_WATCHER_H
#define PHASEMUX_AGENT_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

/* On the process' first thread, whose end is seen; where it cannot be had, the run goes on without. */
void watcher_start(void);

/* In a child that was just forked, on its only thread: it watches once forked_join says so. */
void watcher_start_in_child(void);

/* Whether there is one in this process. */
bool watcher_runs(void);

/* On the watcher: rests for so long. False: it is time to end. */
bool watcher_rest(uint64_t ns);

/*
 * The process is about to end at once: the watcher runs ending_keep, and does nothing any more.
 * Returns when that is done, or after a second. Allocates nothing, takes no lock.
 */
void watcher_finish(void);

/* The program ends, or its first thread does: returns when the watcher does nothing any more. */
void watcher_stop(void);

/*
 * Around a fork, on a thread that is the program's only one: what the child inherits is not in the
 * middle of the watcher's work, whose locks (an allocator's, perhaps) nobody would let go of there.
 * Waits for the watcher to rest, but not for ever.
 */
void watcher_hold(void);
void watcher_let_go(void);
void watcher_let_go_in_child(void);

/* The processor time that it took, of a watcher that was stopped. */
double watcher_seconds(void);

/* Whether the calling thread is the watcher. */
bool watcher_is_me(void);

#endif
