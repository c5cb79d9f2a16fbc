/* SPDX-License-Identifier: BSD-3-Clause */
/* A round's payload for rounds.c, which another compiler wrapper builds. */
#include <math.h>

#include "agent/leads/votes.h"
#include "agent/ledger/ledger.h"
#include "agent/ledger/training.h"
#include "cluster/prototypes.h"
#include "multiplex/mix.h"
#include "sampling/clock.h"

#define EXPORT __attribute__((visibility("default")))
#define PHASES 6
#define KINDS  9 /* of ranks */
#define CIRCLE 8 /* number of ranks that are sampled alike, as in the ledger */

/* What a rank gives to a round in which leads are named, as in agent/rounds/exchange.c. Without votes, only the first member. */
struct part {
	struct ledger_part ledger;
	struct votes votes;
};

struct answer {
	struct ledger_answer ledger;
	struct votes votes;
};

EXPORT size_t part_bytes(bool votes);
EXPORT size_t answer_bytes(bool votes);
EXPORT void part_fill(void *part, int rank, int ranks);
EXPORT void part_merge(const void *in, void *inout);
EXPORT void part_merge_votes(const void *in, void *inout);
EXPORT double part_train(const void *part);

size_t part_bytes(bool votes)
{
	return votes ? sizeof(struct part) : sizeof(struct ledger_part);
}

size_t answer_bytes(bool votes)
{
	return votes ? sizeof(struct answer) : sizeof(struct ledger_answer);
}

/* Votes for the loop of this rank. There are nine kinds of ranks, as in a sweep over a grid. */
static void vote(struct votes *votes, int rank)
{
	const struct vote_kind kind = { .shape = 1 + (uint64_t)rank % KINDS };

	votes_add(votes, &kind, (uint32_t)rank, (1 << PHASES) - 1);
}

/*
 * Fills data, which has room for votes, with a full sample of a program that runs its phases in turn, with the noise of a busy
 * machine.
 */
void part_fill(void *data, int rank, int ranks)
{
	struct ledger_part *part = &((struct part *)data)->ledger;
	uint64_t random = (uint64_t)rank;

	for (unsigned i = 0; i < 2 * RESERVOIR_MAX; i++) {
		uint64_t state = i * UINT64_C(1000003) +
				(uint64_t)(rank % ((ranks + CIRCLE - 1) / CIRCLE));
		unsigned phase = i % PHASES;
		struct sampled_burst burst = { .execution = mix_next(&state),
			.seconds = (float)(1e-3 * (1 + mix_uniform(&random))),
			.task = (uint32_t)rank * 1024 };

		burst.metric[0] = (float)exp(12 + phase + 0.05 * (mix_uniform(&random) - 0.5));
		burst.metric[1] = (float)(0.5 + 0.3 * (phase % 4) +
				0.1 * (mix_uniform(&random) - 0.5));
		burst.key = reservoir_key(burst.execution, (double)burst.seconds);
		reservoir_offer(&part->sample, &burst);
	}
	vote(&((struct part *)data)->votes, rank);
}

void part_merge(const void *in, void *inout)
{
	ledger_part_merge(in, inout);
}

void part_merge_votes(const void *in, void *inout)
{
	const struct part *from = in;
	struct part *into = inout;

	ledger_part_merge(&from->ledger, &into->ledger);
	votes_merge(&from->votes, &into->votes);
}

/* Returns the seconds that the training of this sample takes, after another one was trained. */
double part_train(const void *data)
{
	static struct prototype_table table[2];
	static double metrics[2 * RESERVOIR_MAX], seconds[RESERVOIR_MAX];
	static uint32_t task[RESERVOIR_MAX], generation;
	static uint64_t execution[RESERVOIR_MAX];
	const struct reservoir *sample = &((const struct ledger_part *)data)->sample;
	struct training_sample training = { sample->count, metrics, seconds, task, 0, execution,
		NULL, NULL };
	struct prototype_table *previous = &table[generation % 2];
	uint64_t begin;

	if (!generation) {
		clock_calibrate(&(struct clock_moment){ 0, 0 });
		previous->space.dims = 2;
		previous->space.logarithmic[0] = 1;
		for (unsigned d = 0; d < 2; d++)
			previous->space.range[d] = previous->space.weight[d] = 1;
	}
	for (unsigned i = 0; i < sample->count; i++) {
		metrics[2 * i] = (double)sample->burst[i].metric[0];
		metrics[2 * i + 1] = (double)sample->burst[i].metric[1];
		seconds[i] = (double)sample->burst[i].seconds;
		task[i] = sample->burst[i].task;
		execution[i] = sample->burst[i].execution;
	}
	begin = clock_now();
	if (prototypes_train(&training, previous, &table[++generation % 2]))
		return NAN;
	return clock_ns(clock_now() - begin) * 1e-9;
}
