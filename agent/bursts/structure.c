/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/bursts/structure.h"

#include <errno.h>
#include <math.h>

#include "agent/host/memory.h"
#include "agent/leads/leads.h"
#include "sampling/clock.h"

#define FOLD_SHARE 0.25 /* part of the budget that folding may take */
#define PAUSE_MAX  128  /* most times the time in which calls were folded that a pause takes */
#define TIMED_MIN  64   /* calls between two that are timed: this many, or up to twice as many */
#define FOLD_KNOWN 32   /* calls that were timed after which the cost is known */
/* most ns of a timed call that count: comparing all tokens again is rare, and not to be multiplied */
#define FOLD_MAX 1e4

/* calls after which the text is searched for an iteration, and then after twice as many */
#define LOOK_FIRST 256

int structure_open(struct thread *thread, const struct mpi_arguments *mpi)
{
	struct call_arguments *arguments;
	struct loops *loops = memory_map(sizeof(*loops));

	if (!loops)
		return -ENOMEM;
	loops_init(loops);
	thread->structure.bytes = sizeof(*loops);
	thread->structure.loops = loops;
	/* without memory, regular calls are not found */
	thread->structure.recurrences = memory_map(sizeof(*thread->structure.recurrences));
	if (thread->structure.recurrences)
		thread->structure.recurrences_bytes = sizeof(*thread->structure.recurrences);
	thread->structure.look_due = LOOK_FIRST;
	/* the first calls touch memory for the first time */
	thread->structure.cost.till_due = TIMED_MIN;
	iterations_open(thread);
	if (!mpi)
		return 0;
	arguments = memory_map(sizeof(*arguments));
	if (!arguments)
		return -ENOMEM;
	arguments->mpi = mpi;
	arguments->follows = true;
	thread->structure.arguments_bytes = sizeof(*arguments);
	thread->structure.arguments = thread->structure.noting = arguments;
	return 0;
}

/* Hands a call on to what finds regular calls, unless the text has an iteration. */
static void hand_on_one(struct thread_structure *structure, uint32_t site, uint64_t ticks)
{
	if (structure->recurrences && !structure->repeats)
		recurrence_add(structure->recurrences, site, ticks);
}

/* Hands on the calls of the round under way that were not. */
static void hand_on(struct thread_structure *structure)
{
	const struct loops *loops = structure->loops;

	for (; structure->handed_on < loops->at; structure->handed_on++) {
		const struct loops_pending *call = &loops->pending[structure->handed_on];

		hand_on_one(structure, call->symbol, call->burst + call->inside);
	}
}

/* Says that calls are missing between those that were handed on and those that come. */
static void hand_on_hole(struct thread_structure *structure)
{
	hand_on(structure);
	if (structure->recurrences)
		recurrence_miss(structure->recurrences);
}

void structure_hand_on(struct thread_structure *structure, uint32_t site, uint64_t inside)
{
	hand_on(structure);
	hand_on_one(structure, site, structure->burst + inside);
}

void structure_fold_unexpected(struct thread_structure *structure, uint32_t site, uint64_t inside)
{
	loops_add_cold(structure->loops, site, structure->burst, inside);
	structure->handed_on = structure->loops->at;
}

/* Looks whether the text has an iteration, because then no regular call is to be found. */
static void look_for_iteration(struct thread *thread)
{
	struct thread_structure *structure = &thread->structure;
	bool repeated = structure->repeats;

	hand_on(structure);
	structure->look_due = 2 * structure->loops->calls;
	structure->repeats = iterations_find(thread) != 0;
	if (structure->repeats != repeated)
		hand_on_hole(structure);
}

/* Notes that calls come neither into the loops nor into the arguments. */
static void lose_requests(struct thread *thread)
{
	if (thread->structure.arguments)
		call_arguments_lose(thread->structure.arguments);
}

void structure_call_apart(struct thread *thread, uint32_t site, uint64_t inside)
{
	struct thread_structure *structure = &thread->structure;
	struct fold_cost *cost = &structure->cost;
	uint64_t begin, ticks, most = clock_ticks(FOLD_MAX);

	if (cost->until) {
		iterations_break(thread);
		cost->missed++;
		cost->missed_inside += inside;
		lose_requests(thread);
		return;
	}
	if (structure->loops->calls >= structure->look_due)
		look_for_iteration(thread);
	/* numbers of calls that loops of calls do not have in common */
	cost->till_due = TIMED_MIN + cost->timed * 29 % 61;
	cost->calls += cost->till_due + 1;
	cost->till_due--;
	iterations_call(thread, site);
	/* what finds regular calls has no part in the cost, so that no call is left out of the text for it */
	if (!loops_expects(structure->loops, site))
		structure_hand_on(structure, site, inside);
	begin = clock_now();
	structure_fold(thread, site, inside);
	ticks = clock_now() - begin;
	cost->ticks += ticks < most ? ticks : most;
	cost->timed++;
}

/* Adds calls that were not observed, and the burst before them. */
static void add_hole(struct thread_structure *structure, uint64_t calls, uint64_t inside)
{
	hand_on_hole(structure);
	loops_skip(structure->loops, calls, structure->burst, inside);
	structure->burst = structure->handed_on = 0;
}

/* Makes a hole of the calls that were missed in a pause. */
static void add_missed(struct thread_structure *structure)
{
	struct fold_cost *cost = &structure->cost;

	if (!cost->missed)
		return;
	add_hole(structure, cost->missed, cost->missed_inside);
	cost->missed = cost->missed_inside = 0;
}

void structure_pay(struct thread *thread, const struct thread_rules *rules, uint64_t elapsed)
{
	struct thread_structure *structure = &thread->structure;
	struct fold_cost *cost = &structure->cost;
	double length = (double)(elapsed - cost->since), multiple = 0;

	if (!structure->loops || !(rules->allowed > 0))
		return;
	add_missed(structure);
	if (elapsed < cost->until || (!cost->until && cost->timed < FOLD_KNOWN))
		return;
	if (!cost->until)
		multiple = (double)cost->ticks / cost->timed * (double)cost->calls /
				(FOLD_SHARE * rules->allowed * length);
	*cost = (struct fold_cost){ .since = elapsed, .till_due = TIMED_MIN };
	if (multiple <= 1)
		return;
	cost->until = elapsed + (uint64_t)((fmin(multiple, PAUSE_MAX) - 1) * length);
	cost->till_due = 0;
}

void structure_skip(struct thread *thread, uint64_t calls, uint64_t burst, uint64_t inside)
{
	struct thread_structure *structure = &thread->structure;

	if (!structure->loops)
		return;
	if (calls || burst)
		iterations_break(thread);
	structure->burst += burst;
	if (!calls)
		return;
	leads_lose(thread);
	lose_requests(thread);
	if (structure->cost.until) {
		structure->cost.missed += calls;
		structure->cost.missed_inside += inside;
		return;
	}
	add_hole(structure, calls, inside);
}

void structure_lose(struct thread *thread)
{
	struct loops *loops = thread->structure.loops;

	leads_lose(thread);
	iterations_break(thread);
	if (!loops)
		return;
	add_missed(&thread->structure);
	hand_on_hole(&thread->structure);
	lose_requests(thread);
	if (loops->calls < loops->exact)
		loops->exact = loops->calls;
}

void structure_finish(struct thread *thread)
{
	if (!thread->structure.loops)
		return;
	add_missed(&thread->structure);
	hand_on(&thread->structure);
	loops_finish(thread->structure.loops);
	iterations_finish(thread);
	if (thread->structure.arguments)
		call_arguments_finish(thread->structure.arguments);
	thread->structure.handed_on = 0;
	thread->structure.finished = true;
}
