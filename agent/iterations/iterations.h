/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures a sample of the iterations of the main thread (iteration_sample.h): the time of each, and of its bursts by span and
 * length.
 *
 * From time to time a service looks for the iteration in the structure of the calls that were made so far, and for an anchor
 * of it (anchor.h). From then on a call is compared with that of the anchor; while an iteration is measured, its bursts are
 * added as well. If the iteration becomes another loop, the sample begins anew. An iteration in which something was not
 * observed is given up.
 *
 * The thread itself calls these functions. A thread without a structure has no iterations, and for it they do nothing.
 */
#ifndef PHASEMUX_AGENT_ITERATIONS_ITERATIONS_H
#define PHASEMUX_AGENT_ITERATIONS_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/iterations/iteration_sample.h"
#include "agent/thread/thread.h"
#include "cluster/loops/iteration.h"

struct iterations {
	uint32_t wait;  /* iterations that pass before the next one that is measured */
	uint64_t began; /* time in bursts and calls until the one that is measured began, in ticks */
	uint64_t due;   /* time of the program in ticks from which the iteration is looked for */
	uint32_t parts;                                   /* of the one that is measured */
	struct iteration_part part[ITERATION_PARTS_EACH]; /* its ticks are in the next field */
	uint64_t ticks[LENGTHS_MAX];                      /* by number in the table of lengths */
	struct iteration_room room;
	struct iteration_sample sample;
};

/* Starts to look for iterations. thread_free frees them. Without memory, there are none. Any thread may call it. */
void iterations_open(struct thread *thread);

/* Returns the cell of the iteration in the structure of the calls made so far; 0: there is none, or no memory to find it. */
unsigned iterations_find(const struct thread *thread);

/* Looks for the iteration, if it is time to. elapsed: ticks of the program until now. Call in a service. */
void iterations_look(struct thread *thread, uint64_t elapsed);

/* Ends an iteration, and starts the next one, if the call that returns now is that of an anchor. Only iterations_call calls it. */
void iterations_turn(struct thread *thread);

/* Notes that a call of a site returns, which is not yet part of the structure. */
static inline void iterations_call(struct thread *thread, uint32_t site)
{
	if (__builtin_expect(site == thread->structure.anchor, 0))
		iterations_turn(thread);
}

/* Adds a burst to the iteration that is measured. Only iterations_burst calls it. */
void iterations_add(struct thread *thread, unsigned length, uint64_t ticks);

/* Notes a burst that has ended. length: its number in the table of lengths. */
static inline void iterations_burst(struct thread *thread, unsigned length, uint64_t ticks)
{
	if (__builtin_expect(thread->structure.measures, 0))
		iterations_add(thread, length, ticks);
}

/* Notes that something was not observed: the iteration that is measured is given up. */
void iterations_break(struct thread *thread);

/* Ends the sample, and drops it if it is not of the iteration of the whole text. Call when the structure is finished. */
void iterations_finish(struct thread *thread);

/* Returns the sample of the thread; NULL: there is none. */
const struct iteration_sample *iterations_sample(const struct thread *thread);

#endif
