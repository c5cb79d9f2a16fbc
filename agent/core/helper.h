/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watcher is a thread of the agent, in processes without MPI. Again and again it does what the process that
 * starts it asks for, because a program that calls no runtime gives the agent no other chance to do so. It takes
 * no signal, and does not count as a thread of the program.
 */
#ifndef PHASEMUX_AGENT_CORE_HELPER_H
#define PHASEMUX_AGENT_CORE_HELPER_H

#include <stdbool.h>
#include <stdint.h>

/* What the watcher does for the process that starts it. It calls all of these itself, one at a time. */
struct watcher_tasks {
	/*
	 * Called once, before anything else. Returns false if there is nothing to watch; the watcher then ends.
	 */
	bool (*begin)(void);
	void (*look)(void); /* called again and again, with a rest before each call */
	void (*keep)(void); /* called once, as the last of all, if watcher_finish() ends the watcher */
	uint64_t rest_ns; /* longest time between two looks; less than a second */
};

/*
 * Starts the watcher. Call on the process' first thread, whose end is noticed; on another one it does nothing.
 * Returns whether there is a watcher. `*tasks` is copied.
 */
bool watcher_start(const struct watcher_tasks *tasks);

/* Starts the watcher in a child that was just forked. Call on its only thread. `*tasks` is copied. */
void watcher_start_in_child(const struct watcher_tasks *tasks);

/* Returns whether this process has a watcher. */
bool watcher_runs(void);

/* Rests for `ns`, less than a second. Returns false if the watcher is to end. Call on the watcher. */
bool watcher_rest(uint64_t ns);

/*
 * Ends the watcher after it has called tasks.keep, because the process is about to end at once. Returns when that
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
