/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The helper is a thread of the agent. Again and again it does what the process that starts it asks for, because
 * a program that computes without a call of the runtime gives the agent no other chance to do so. It takes no
 * signal, and does not count as a thread of the program.
 */
#ifndef PHASEMUX_AGENT_CORE_HELPER_H
#define PHASEMUX_AGENT_CORE_HELPER_H

#include <stdbool.h>
#include <stdint.h>

/* What the helper does for the process that starts it. It calls all of these itself, one at a time. */
struct helper_tasks {
	/*
	 * Called once, before anything else. Returns false if there is nothing to watch; the helper then ends.
	 */
	bool (*begin)(void);
	/* called again and again; returns the time in ns to rest before the next call, less than a second */
	uint64_t (*look)(void);
	void (*keep)(void); /* called once, as the last of all, if helper_finish() ends the helper */
};

/*
 * Starts the helper. Call on the process' first thread, whose end is noticed; on another one it does nothing.
 * Returns whether there is a helper. `*tasks` is copied.
 */
bool helper_start(const struct helper_tasks *tasks);

/*
 * Makes the calling thread the helper, which takes no signal and can be joined. Returns what it then must run, and return
 * from. What it has used before is not the helper's. `*tasks` is copied.
 */
typedef void *helper_body(void *unused);
helper_body *helper_become(const struct helper_tasks *tasks);

/* Starts the helper in a child that was just forked. Call on its only thread. `*tasks` is copied. */
void helper_start_in_child(const struct helper_tasks *tasks);

/* Returns whether this process has a helper. */
bool helper_runs(void);

/* Rests for `ns`, less than a second. Returns false if the helper is to end. Call on the helper. */
bool helper_rest(uint64_t ns);

/*
 * Ends the helper after it has called tasks.keep, because the process is about to end at once. Returns when that
 * is done, or after a second. Allocates nothing, takes no lock.
 */
void helper_finish(void);

/* Stops the helper and waits until it has ended. Call when the program ends, or its first thread. */
void helper_stop(void);

/*
 * Like helper_stop(), but the helper calls `last` with `argument` as the last of all. The helper is older than the
 * program's main function, so what the program forbids its own threads later (Landlock, seccomp) is not forbidden
 * to the helper. Nothing is called if there is no helper, or if it had nothing to watch and has ended.
 */
void helper_stop_with(void (*last)(void *argument), void *argument);

/*
 * Like helper_stop(), but waits only while the helper runs. A signal handler may end the process while the thread that it
 * interrupted holds a lock that the helper needs.
 */
void helper_stop_at_exit(void);

/*
 * Hold the helper while the program forks. Otherwise the child might inherit locks that the helper holds (an
 * allocator's, perhaps), and that no thread of the child would release. helper_hold waits until the helper
 * rests, or does not run. Call on the program's only thread.
 */
void helper_hold(void);
void helper_let_go(void);
void helper_let_go_in_child(void);

/*
 * End the helper's thread while the program forks, and start another one that goes on with its tasks.
 * helper_leave returns whether there was one. Call on the program's only thread.
 */
bool helper_leave(void);
void helper_return(void);

/* Returns the processor time in seconds that a stopped helper has used. */
double helper_seconds(void);

/* Returns whether the calling thread is the helper. */
bool helper_is_me(void);

#endif
