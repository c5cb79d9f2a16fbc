/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The core's half of skipped calls (skip.h): decides when calls are skipped, and divides their time among bursts
 * and calls. Call all functions on the thread itself.
 */
#ifndef PHASEMUX_AGENT_BURSTS_SKIPPING_H
#define PHASEMUX_AGENT_BURSTS_SKIPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/bursts/polling.h"
#include "agent/thread/thread.h"

#define SKIPPING_MAX 127 /* most windows skipped for each one that is observed */

/*
 * Returns how many windows of calls are skipped for each one that is observed (skip.h): the number that keeps
 * the budget, or the largest one while the program polls, because polling has no bursts that would be lost.
 */
static inline uint32_t skipping_windows(const struct thread *thread,
		const struct thread_rules *rules)
{
	if (__builtin_expect(thread->polling.row == POLLING_ROW && rules->allowed > 0, 0))
		return SKIPPING_MAX;
	return thread->window.multiple;
}

/*
 * Returns how many windows are skipped for each one that is observed, so that calls cost no more than a part of
 * the budget. 0: all calls are observed. calls, ticks: calls that the thread had in this time. elapsed: ticks
 * of the program until now.
 */
uint32_t skipping_multiple(const struct thread *thread, const struct thread_rules *rules,
		uint64_t calls, uint64_t ticks, uint64_t elapsed);

/* Measures and returns the ticks that a skipped call costs, many in a row. Takes 6 us. */
double skipping_cost(void);

/*
 * Adds a call that has returned after `call_ticks` to the window, and decides whether to skip the next calls.
 */
void skipping_after(struct thread *thread, const struct thread_rules *rules, const void *site,
		const void *frame, bool waits, uint64_t call_ticks);

/*
 * Divides the time of the skipped calls, up to now, among bursts and calls. The burst under way is then only
 * the last part of it.
 */
void skipping_settle(struct thread *thread, const struct thread_rules *rules, uint64_t now);

/*
 * Divides the time of the skipped calls among bursts and calls when the last one returns at time now, and was
 * answered. No burst is under way after it. If the time is longer than expected, that call took the rest,
 * because it received what has come. Returns false if calls are not being skipped.
 */
bool skipping_answered(struct thread *thread, const struct thread_rules *rules, uint64_t now);

#endif
