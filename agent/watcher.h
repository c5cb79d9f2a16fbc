/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watcher is a thread of the agent, in processes without MPI. It empties the rings of samples, learns, and
 * changes groups, because a program that calls no runtime gives the agent no other chance to do so. It takes no
 * signal, and does not count as a thread of the program.
 */
#ifndef PHASEMUX_AGENT_WATCHER_H
#define PHASEMUX_AGENT_WATCHER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Starts the watcher, if bursts may be cut. Call on the process' first thread, whose end is noticed; on another
 * one it does nothing. If the thread cannot be made, the run goes on without a watcher.
 */
void watcher_start(void);

/*
 * Starts the watcher in a child that was just forked. Call on its only thread. It watches once forked_join
 * allows.
 */
void watcher_start_in_child(void);

/* Returns whether this process has a watcher. */
bool watcher_runs(void);

/* Rests for `ns`, less than a second. Returns false if the watcher is to end. Call on the watcher. */
bool watcher_rest(uint64_t ns);

/*
 * Ends the watcher after it has run ending_keep, because the process is about to end at once. Returns when that
 * is done, or after a second. Allocates nothing, takes no lock.
 */
void watcher_finish(void);

/* Stops the watcher and waits until it has ended. Call when the program ends, or its first thread. */
void watcher_stop(void);

/*
 * Hold the watcher while the program forks. Otherwise the child might inherit locks that the watcher holds (an
 * allocator's, perhaps), and that no thread of the child would release. watcher_hold waits until the watcher
 * rests, but at most HOLD_TRIES x HOLD_PAUSE_US. Call on the program's only thread.
 */
void watcher_hold(void);
void watcher_let_go(void);
void watcher_let_go_in_child(void);

/* Returns the processor time in seconds that a stopped watcher has used. */
double watcher_seconds(void);

/* Returns whether the calling thread is the watcher. */
bool watcher_is_me(void);

#endif
