/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drains: adds what a thread has read to the ledger, and keeps the thread's sums in the spool, where they
 * outlive a kill. Any thread may call these functions. A drain does nothing if the same thread is being
 * drained already.
 */
#ifndef PHASEMUX_AGENT_CORE_DRAIN_H
#define PHASEMUX_AGENT_CORE_DRAIN_H

#include <stdint.h>

struct thread;

/*
 * Adds what the thread has read to the ledger, and keeps it in the spool. Call on the thread itself, or when it
 * reads no bursts any more.
 */
void drain_thread(struct thread *thread, uint64_t now);

/* Like drain_thread(), for another thread, which may be inside a burst. Its new call sites are kept later. */
void drain_other_thread(struct thread *thread, uint64_t now);

/*
 * Like drain_thread(), but keeps the thread in the spool at most once in a millisecond, and the structure of its calls
 * at most ten times in a second. Call on the thread itself.
 */
void drain_often(struct thread *thread, uint64_t now);

/*
 * Drains a thread whose last burst is over, unless it was kept in the spool less than a millisecond ago and has no
 * open counters. Then the next thread in its place drains it, because threads may live for microseconds only. With
 * open counters, samples would be lost.
 */
void drain_ended_thread(struct thread *thread);

#endif
