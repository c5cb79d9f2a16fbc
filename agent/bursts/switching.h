/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes the group of a thread within a long burst, so that all groups see it. A thread of the agent does this
 * beside the program. The thread's own calls and bursts that are not long know nothing of it, except that they
 * take the turn where they read counters.
 *
 * Where the last bursts of a site were long, its next one is expected to be long, and groups change in it from its
 * start. The same holds for a new site, unless this was wrong for other new ones. If the burst ends early
 * nevertheless, it counts as not read.
 */
#ifndef PHASEMUX_AGENT_BURSTS_SWITCHING_H
#define PHASEMUX_AGENT_BURSTS_SWITCHING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/thread/thread.h"

/*
 * Starts the next quantum within the burst under way, if that is long and its group has been counted for long
 * enough. Returns the time in ns after which to look again. Call on another thread. Never waits.
 */
uint64_t switching_look(struct thread *thread, const struct thread_rules *rules, uint64_t now);

/* Returns whether the burst under way has lasted for so long that it is drained before its end. */
bool switching_lasts(const struct thread *thread, const struct thread_rules *rules, uint64_t now);

#endif
