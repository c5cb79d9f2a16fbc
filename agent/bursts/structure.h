/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The structure of a thread's calls: each call is folded into loops when it returns (cluster/loops/loops.h), with
 * the time of the bursts before it, and its own. The symbol of a call is the number of its site.
 *
 * Calls that only ask are not part of the structure. Calls that were skipped (skip.h) or made in a rest (rest.h)
 * are holes in it. After a time in which the agent was off, the structure does not say which calls came when.
 *
 * While the text has no iteration, the calls are also added to what finds the one that comes back regularly
 * (cluster/recurrence/recurrence.h). Where calls repeat a loop, nothing is added.
 *
 * Where calls have no order, a fold takes up to some 0.7 us. If that is more than a part of the budget, calls are not
 * folded for some time, and are a hole.
 *
 * The thread itself calls these functions. A thread without a structure pays a test for each call.
 */
#ifndef PHASEMUX_AGENT_BURSTS_STRUCTURE_H
#define PHASEMUX_AGENT_BURSTS_STRUCTURE_H

#include <stdint.h>

#include "agent/iterations/iterations.h"
#include "agent/thread/call_arguments.h"
#include "agent/thread/thread.h"
#include "cluster/loops/loops.h"
#include "cluster/recurrence/recurrence.h"

/*
 * Starts the structure of a thread that has made no call yet. thread_free frees it. mpi: the arguments of calls are kept
 * as well; NULL: they are not. Returns 0 or -ENOMEM, and then nothing or only the structure is kept. Any thread may call
 * it.
 */
int structure_open(struct thread *thread, const struct mpi_arguments *mpi);

/* Notes the ticks of a burst, which belongs to the next call. */
static inline void structure_burst(struct thread *thread, uint64_t ticks)
{
	thread->structure.burst += ticks;
}

/* Notes the arguments of the call that starts. */
static inline void structure_note(struct thread *thread, struct preload_thread *slot,
		enum runtime_call call)
{
	if (__builtin_expect(thread->structure.noting != NULL, 0))
		call_arguments_note(thread->structure.noting, &slot->arguments, call);
}

/* Hands a call that the round under way does not expect, and those before it, on to what finds regular calls. */
void structure_hand_on(struct thread_structure *structure, uint32_t site, uint64_t inside);

/* Folds a call that the round under way does not expect, or that completes it. The cold part of structure_fold. */
void structure_fold_unexpected(struct thread_structure *structure, uint32_t site, uint64_t inside);

/* Folds a call, and adds its arguments. Only structure_call and its cold part call it. */
static inline void structure_fold(struct thread *thread, uint32_t site, uint64_t inside)
{
	struct thread_structure *structure = &thread->structure;

	if (__builtin_expect(loops_expects(structure->loops, site), 1))
		loops_advance(structure->loops, site, structure->burst, inside);
	else
		structure_fold_unexpected(structure, site, inside);
	structure->burst = 0;
	if (__builtin_expect(structure->arguments != NULL, 0))
		call_arguments_add(structure->arguments, &thread->sites, site);
}

/* Adds a call whose fold is timed, or that comes in a pause. The cold part of structure_call. */
void structure_call_apart(struct thread *thread, uint32_t site, uint64_t inside);

/* Adds a call of a site, which has returned after `inside` ticks. */
static inline void structure_call(struct thread *thread, uint32_t site, uint64_t inside)
{
	struct thread_structure *structure = &thread->structure;

	if (__builtin_expect(!structure->loops, 0))
		return;
	if (__builtin_expect(!structure->cost.till_due, 0)) {
		structure_call_apart(thread, site, inside);
		return;
	}
	structure->cost.till_due--;
	iterations_call(thread, site);
	if (__builtin_expect(!loops_expects(structure->loops, site), 0))
		structure_hand_on(structure, site, inside);
	structure_fold(thread, site, inside);
}

/*
 * Adds calls that were not observed, with the ticks of their bursts and of the calls together. calls: may be 0.
 */
void structure_skip(struct thread *thread, uint64_t calls, uint64_t burst, uint64_t inside);

/*
 * Begins and ends pauses, so that folding takes no more than a part of the budget. Calls in a pause become a hole.
 * elapsed: ticks of the program until now.
 */
void structure_pay(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed);

/* Notes that it is not known which calls were made since the last one. */
void structure_lose(struct thread *thread);

/* Folds what is left to be folded. Call when the thread makes no more calls. */
void structure_finish(struct thread *thread);

#endif
