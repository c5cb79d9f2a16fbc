/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Polling is waiting. A program that waits may do so in a loop of calls which only ask whether something
 * has come (MPI_Test, MPI_Iprobe and the like; kind POLLS in mpi_calls.def). The time between two such calls
 * is polling, and no burst, where it is shorter than POLLING_NS. Whichever the two calls are and wherever they
 * are made, they may be different ones.
 *
 * Why 2 us: such a call takes 0.1 to 1 us. A program that computes for less than 2 us between two of them
 * spends a large part of its time in asking, so it waits. A program that computes and asks from time to time,
 * so that MPI makes progress, computes for longer: it would lose too much time otherwise. What is computed
 * there is a burst like any other, from 2 us on.
 *
 * The kernel may take the processor away from a thread that polls. So where polling has gone on for a while and
 * there are then POLLING_LOOK_NS or more between two such calls, the agent asks the kernel how long the thread
 * was on a processor. Where that is hardly any of it, it is polling as well.
 *
 * The thread's own state; called on the thread itself.
 */
#ifndef PHASEMUX_AGENT_POLLING_H
#define PHASEMUX_AGENT_POLLING_H

#include <stdbool.h>
#include <stdint.h>

#define POLLING_NS      2000
#define POLLING_LOOK_NS 50000
#define POLLING_ROW     64 /* so many gaps in a row: polling has gone on for a while */
#define POLLING_VAIN    3  /* so many answers that changed nothing, and answers are not heeded */
/*
 * Of the time that a thread was held up, less than this part was on a processor: it takes some time to leave
 * that, and to come back (up to 60 us of 4 ms were seen on a virtual machine).
 */
#define POLLING_HELD_UP 16

struct polling {
	bool asks;     /* the intercepted call under way only asks */
	bool asked;    /* the burst under way began after such a call ... */
	bool answered; /* ... which said that what it asked for has come */
	uint8_t vain; /* so many times in a row, and still the program polled on; at most POLLING_VAIN */
	uint32_t row; /* gaps in a row, at most POLLING_ROW */
	/* when the kernel was asked last, in ticks, and how long the thread had run by then; 0: it was not */
	uint64_t looked, ran;
};

struct thread;
struct thread_rules;

/* An answer may mean that the program stops polling. */
static inline bool polling_heeds(const struct polling *polling)
{
	return polling->vain < POLLING_VAIN;
}

/* Whether the time between two calls, of so many ticks until `now`, is polling. */
bool polling_is(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		uint64_t ticks);

/*
 * What is known of the thread's polling after a burst, or (gap) the time between two calls that ask, has
 * ended.
 */
void polling_learn(struct thread *thread, const struct thread_rules *rules, uint64_t now, bool gap);

/*
 * How many ticks the thread was on no processor since this was called last, at most `most`; 0 where it was
 * not called since polling began, or the kernel does not tell.
 */
uint64_t polling_off(struct thread *thread, const struct thread_rules *rules, uint64_t now,
		uint64_t most);

#endif
