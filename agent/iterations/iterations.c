/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/iterations/iterations.h"

#include "agent/host/memory.h"
#include "multiplex/mix.h"
#include "sampling/clock.h"

#define LOOK_AGAIN                                                                                 \
	4 /* after 1 / LOOK_AGAIN more of the time of the program the iteration is looked for again */
#define LOOK_MIN_NS 1e6

void iterations_open(struct thread *thread)
{
	struct iterations *iterations = memory_map(sizeof(*iterations));

	thread->structure.anchor = LOOPS_ANY;
	if (!iterations)
		return;
	iterations->sample.random = mix_bits(thread->random);
	thread->structure.iterations_bytes = sizeof(*iterations);
	thread->structure.iterations = iterations;
}

/* Forgets what was measured of the iteration under way. */
static void forget_parts(struct thread *thread)
{
	struct iterations *iterations = thread->structure.iterations;

	for (uint32_t i = 0; i < iterations->parts; i++)
		iterations->ticks[iterations->part[i].length] = 0;
	iterations->parts = 0;
	thread->structure.measures = false;
}

void iterations_break(struct thread *thread)
{
	struct iterations *iterations = thread->structure.iterations;

	if (!thread->structure.measures)
		return;
	forget_parts(thread);
	iterations->wait = iteration_sample_draw(&iterations->sample);
}

void iterations_add(struct thread *thread, unsigned length, uint64_t ticks)
{
	struct iterations *iterations = thread->structure.iterations;
	uint64_t *sum = &iterations->ticks[length];

	if (!*sum) {
		if (iterations->parts == ITERATION_PARTS_EACH) {
			iterations_break(thread);
			return;
		}
		iterations->part[iterations->parts].length = length;
		iterations->parts += ticks > 0;
	}
	*sum += ticks;
}

/* Returns the last call that is part of the structure, or LOOPS_ANY if it is not known. */
static uint32_t last_call(const struct loops *loops)
{
	const struct loops_token *token;

	if (loops->at)
		return loops->pending[loops->at - 1].symbol;
	if (!loops->tokens)
		return LOOPS_ANY;
	token = arena_look(loops, loops->cell[loops->tokens - 1]);
	while (token->kind == LOOPS_LOOP)
		token = arena_look(loops, token->last);
	return token->kind == LOOPS_CALL ? token->symbol : LOOPS_ANY;
}

static uint64_t ticks_of(const _Atomic uint64_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

/* Returns the time in bursts and calls until now in ticks, which does not contain that of the agent. */
static uint64_t program_ticks(const struct thread *thread)
{
	const struct thread_counts *counts = &thread->counts;

	return ticks_of(&counts->ticks) + ticks_of(&counts->poll_ticks) +
			ticks_of(&counts->mpi_ticks);
}

static void end_iteration(struct thread *thread, uint64_t now)
{
	struct iterations *iterations = thread->structure.iterations;

	for (uint32_t i = 0; i < iterations->parts; i++) {
		struct iteration_part *part = &iterations->part[i];

		part->ticks = (float)iterations->ticks[part->length];
	}
	iteration_sample_add(&iterations->sample, now - iterations->began, iterations->part,
			iterations->parts);
	forget_parts(thread);
	iterations->wait = iteration_sample_draw(&iterations->sample);
}

void iterations_turn(struct thread *thread)
{
	struct iterations *iterations = thread->structure.iterations;
	uint64_t now = program_ticks(thread);

	if (last_call(thread->structure.loops) != iterations->sample.anchor.before)
		return;
	if (!thread->structure.measures && iterations->wait) {
		iterations->wait--;
		return;
	}
	if (thread->structure.measures) {
		end_iteration(thread, now);
		if (iterations->wait) {
			iterations->wait--;
			return;
		}
	}
	iterations->began = now;
	thread->structure.measures = true;
}

unsigned iterations_find(const struct thread *thread)
{
	struct iterations *iterations = thread->structure.iterations;

	return iterations ? iteration_cell(thread->structure.loops, &iterations->room) : 0;
}

void iterations_look(struct thread *thread, uint64_t elapsed)
{
	struct iterations *iterations = thread->structure.iterations;
	const struct loops *loops = thread->structure.loops;
	struct anchor anchor;
	unsigned cell;

	if (!iterations || elapsed < iterations->due || thread->structure.finished)
		return;
	iterations->due = elapsed + elapsed / LOOK_AGAIN + clock_ticks(LOOK_MIN_NS);
	cell = iterations_find(thread);
	if (!cell)
		return;
	if (iterations->sample.stride && anchor_is_of(loops, cell, &iterations->sample.anchor)) {
		thread->structure.anchor = iterations->sample.anchor.at;
		return;
	}
	forget_parts(thread);
	thread->structure.anchor = LOOPS_ANY;
	if (!anchor_find(loops, cell, &anchor))
		return;
	iteration_sample_start(&iterations->sample, &anchor);
	iterations->wait = iteration_sample_draw(&iterations->sample);
	thread->structure.anchor = anchor.at;
}

void iterations_finish(struct thread *thread)
{
	struct iterations *iterations = thread->structure.iterations;

	if (!iterations)
		return;
	forget_parts(thread);
	thread->structure.anchor = LOOPS_ANY;
	if (!iteration_sample_is_of(&iterations->sample, thread->structure.loops))
		iterations->sample.count = iterations->sample.parts = 0;
}

const struct iteration_sample *iterations_sample(const struct thread *thread)
{
	return thread->structure.iterations ? &thread->structure.iterations->sample : NULL;
}
