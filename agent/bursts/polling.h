/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling is waiting. A program that waits may do so in a loop of calls which only ask whether something has
 * come (MPI_Test, MPI_Iprobe and the like; kind POLLS in mpi_calls.def). The time between two such calls is
 * polling, and no burst, if it is shorter than POLLING_NS. The two calls may be different ones, made at
 * different places.
 *
 * Why 2 us: such a call takes 0.1 to 1 us. A program that computes for less than 2 us between two of them
 * spends a large part of its time in asking, so it waits. A program that computes and asks from time to time,
 * so that MPI makes progress, computes for longer: it would lose too much time otherwise. What is computed
 * there is a burst like any other, from 2 us on.
 *
 * The kernel may preempt a thread that polls. If POLLING_LOOK_NS or more pass between two such calls, after
 * polling has gone on for a while, the agent asks the kernel for the thread's processor time. If that is hardly
 * any of the time, the time is polling as well.
 *
 * Each thread has its own state. Call all functions on the thread itself.
 */
#ifndef PHASEMUX_AGENT_BURSTS_POLLING_H
#define PHASEMUX_AGENT_BURSTS_POLLING_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/thread/thread.h"

#define POLLING_NS      2000
#define POLLING_LOOK_NS 50000
/*
 * A thread was preempted if it was on a processor for less than this fraction (1 / 16) of the time. It is not
 * 0, because leaving a processor and coming back takes time: up to 60 us of 4 ms on a virtual machine.
 */
#define POLLING_HELD_UP 16

/* Returns whether an answer may mean that the program stops polling. */
static inline bool polling_heeds(const struct polling *polling)
{
	return polling->vain < POLLING_VAIN;
}

/* Returns whether the time between two calls, of `ticks` until `now`, is polling. */
bool polling_is(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		uint64_t ticks);

/*
 * Updates what is known of the thread's polling, when a burst has ended at time now, or the time between two
 * calls that ask (gap).
 */
void polling_learn(struct thread *thread, const struct thread_rules *rules, uint64_t now, bool gap);

/*
 * Returns how many ticks the thread was on no processor since the last call of this function, at most `most`.
 * Returns 0 if it was not called since polling began, or if the kernel does not tell.
 */
uint64_t polling_off(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		uint64_t most);

#endif
