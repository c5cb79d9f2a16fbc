/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ranks/phase_ranks.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>

#include "multiplex/estimate/layout.h"

bool phase_labels_is_short(const struct sums *sums, unsigned prototype, double burst_min_seconds)
{
	const double *common = sums_common(sums, prototype);
	double bursts = common[BLOCK_READ];

	return bursts > 0 && common[COMMON_ELAPSED] / bursts < burst_min_seconds;
}

void phase_labels_fill(struct phase_labels *labels, const struct prototype_table *table,
		const struct sums *sums, double burst_min_seconds)
{
	*labels = (struct phase_labels){ .phases = table->phases };
	if (labels->phases > PROTOTYPES_MAX)
		labels->phases = PROTOTYPES_MAX;
	for (unsigned p = 0; p < table->count; p++)
		if (table->all[p].phase <= labels->phases &&
				!phase_labels_is_short(sums, p, burst_min_seconds))
			labels->phase[p] = table->all[p].phase;
}

void rank_use_of(struct rank_use *use, unsigned prototypes, const struct sums *sums,
		const struct unread *unread)
{
	*use = (struct rank_use){ 0 };
	for (unsigned p = 0; p < prototypes; p++) {
		const double *common = sums_common(sums, p);
		const struct tally *more = &unread->prototype[p];

		use->use[p] = (struct phase_use){ common[COMMON_ELAPSED] + more->seconds,
			common[BLOCK_READ] + more->bursts, common[BLOCK_W], common[BLOCK_X1],
			common[BLOCK_X2] };
	}
}

void rank_use_subtract(struct rank_use *all, const struct rank_use *others)
{
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++) {
		struct phase_use *use = &all->use[p];

		use->seconds -= others->use[p].seconds;
		use->bursts -= others->use[p].bursts;
		use->counted -= others->use[p].counted;
		use->cycles -= others->use[p].cycles;
		use->instructions -= others->use[p].instructions;
	}
}

void rank_use_seconds(const struct rank_use *use, double *seconds)
{
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
		seconds[p] = use->use[p].seconds;
}

void rank_use_by_phase(const struct rank_use *by_prototype, const struct phase_labels *labels,
		struct rank_use *by_phase)
{
	*by_phase = (struct rank_use){ 0 };
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++) {
		const struct phase_use *more = &by_prototype->use[p];
		struct phase_use *use;

		if (!labels->phase[p])
			continue;
		use = &by_phase->use[labels->phase[p] - 1];
		use->seconds += more->seconds;
		use->bursts += more->bursts;
		if (!(more->counted > 0))
			continue;
		use->counted += more->bursts;
		use->cycles += more->cycles / more->counted * more->bursts;
		use->instructions += more->instructions / more->counted * more->bursts;
	}
}

void rank_use_most(const struct rank_use *by_phase, double *most)
{
	for (unsigned i = 0; i < PROTOTYPES_MAX; i++)
		most[i] = fmax(most[i], by_phase->use[i].seconds);
}

/* Returns what one rank is in a phase that it executes. */
static struct phase_rank one_rank(uint32_t rank, const struct phase_use *use)
{
	struct phase_rank one = { .ranks = 1,
		.slowest = rank,
		.seconds = use->seconds,
		.most = use->seconds };

	if (use->cycles > 0 && use->instructions > 0) {
		one.counted = 1;
		one.ipc = one.ipc_most = use->instructions / use->cycles;
		one.instructions = use->instructions / use->counted * use->bursts;
		one.instructions_most = one.instructions;
	}
	return one;
}

static void merge_phase(struct phase_rank *into, const struct phase_rank *from)
{
	if (!from->ranks)
		return;
	if (!into->ranks || from->most > into->most ||
			(from->most == into->most && from->slowest < into->slowest))
		into->slowest = from->slowest;
	into->ranks += from->ranks;
	into->counted += from->counted;
	into->seconds += from->seconds;
	into->most = fmax(into->most, from->most);
	into->ipc += from->ipc;
	into->ipc_most = fmax(into->ipc_most, from->ipc_most);
	into->instructions += from->instructions;
	into->instructions_most = fmax(into->instructions_most, from->instructions_most);
	iteration_spread_merge(&into->spread, &from->spread);
}

void phase_ranks_add(struct phase_ranks *ranks, uint32_t phases, uint32_t rank,
		const struct rank_use *by_phase, const double *most,
		const struct iteration_spreads *spreads)
{
	ranks->phases = phases;
	iteration_spread_merge(&ranks->iterations, &spreads->whole);
	for (uint32_t i = 0; i < phases; i++) {
		struct phase_rank one = one_rank(rank, &by_phase->use[i]);

		one.spread = spreads->phase[i];
		if (one.seconds > 0 && one.seconds >= PHASE_RANKS_MIN * most[i])
			merge_phase(&ranks->phase[i], &one);
	}
}

void phase_ranks_merge(const void *in, void *inout)
{
	const struct phase_ranks *from = in;
	struct phase_ranks *into = inout;

	iteration_spread_merge(&into->iterations, &from->iterations);
	for (uint32_t i = 0; i < from->phases; i++)
		merge_phase(&into->phase[i], &from->phase[i]);
}

int phase_ranks_reduce(struct phase_ranks *ranks, struct phase_ranks *scratch,
		const struct rank_use *by_prototype, struct phase_labels *labels, uint32_t rank,
		const struct mpi_adapter *adapter)
{
	double most[PROTOTYPES_MAX] = { 0 };
	struct iteration_spreads spreads;
	struct rank_use by_phase;
	size_t bytes;

	if (adapter->broadcast_start(labels, sizeof(*labels)) || adapter->wait())
		return -EIO;
	if (!labels->phases)
		return 0;
	rank_use_by_phase(by_prototype, labels, &by_phase);
	rank_use_most(&by_phase, most);
	if (adapter->max(most, labels->phases))
		return -EIO;
	iteration_spreads_of(by_prototype->iterations, labels->phase, &spreads);
	phase_ranks_add(ranks, labels->phases, rank, &by_phase, most, &spreads);
	bytes = offsetof(struct phase_ranks, phase) + labels->phases * sizeof(ranks->phase[0]);
	if (adapter->reduce_start(ranks, scratch, bytes, phase_ranks_merge) || adapter->wait())
		return -EIO;
	return 0;
}
