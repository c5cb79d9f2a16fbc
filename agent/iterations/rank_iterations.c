/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/iterations/rank_iterations.h"

#include <stdlib.h>
#include <string.h>

/* Numbers of lengths that stand for others, because these have no burst that was read. */
struct stand_ins {
	const struct site_table *sites;
	uint16_t number[LENGTHS_MAX];
};

static const struct span_length *length_of(const struct site_table *sites, uint32_t number)
{
	return &sites->length[number];
}

/* Returns the number of the length of a span with read bursts that is nearest to one, which may be it; 0: there is none. */
static uint32_t nearest_read(const struct site_table *sites, const struct span *span, unsigned of)
{
	uint32_t best = 0;
	int least = 0;

	for (unsigned l = 0; l < span->lengths; l++) {
		uint32_t number = span_length_number(span, l);
		int away = abs(span->bin[l] - span->bin[of]);

		if (!length_of(sites, number)->share[0].read || (best && away >= least))
			continue;
		best = number;
		least = away;
	}
	return best;
}

static void find_stand_ins(struct stand_ins *stand_ins)
{
	const struct site_table *sites = stand_ins->sites;

	for (uint32_t i = 0; i <= sites->spans; i++) {
		const struct span *span = &sites->span[i];

		for (unsigned l = 0; span->used && l < span->lengths; l++)
			stand_ins->number[span_length_number(span, l)] =
					(uint16_t)nearest_read(sites, span, l);
	}
}

static void add_part(struct rank_iterations *iterations, uint32_t prototype, double seconds)
{
	if (prototype < PROTOTYPES_MAX && seconds > 0)
		iterations->part[iterations->parts++] =
				(struct prototype_part){ prototype, (float)seconds };
}

/* Adds `seconds` of bursts of a length to the prototypes in which they are. */
static void add_length(struct rank_iterations *iterations, const struct span_length *length,
		double seconds)
{
	const struct span_share *main = length->share;
	double all = 0;

	for (unsigned s = 0; s < SPAN_SHARES_MAX && length->share[s].read; s++) {
		all += span_share_ticks(&length->share[s]);
		if (span_share_ticks(&length->share[s]) > span_share_ticks(main))
			main = &length->share[s];
	}
	if (!(all > 0))
		return;
	if (!length->cut) {
		add_part(iterations, main->prototype, seconds);
		return;
	}
	for (unsigned s = 0; s < SPAN_SHARES_MAX && length->share[s].read; s++)
		add_part(iterations, length->share[s].prototype,
				seconds * span_share_ticks(&length->share[s]) / all);
}

static void add_iteration(struct rank_iterations *iterations, const struct iteration_sample *sample,
		const struct sampled_iteration *from, const struct stand_ins *stand_ins,
		double seconds_per_tick)
{
	struct rank_iteration *to = &iterations->iteration[iterations->count++];

	to->seconds = (double)from->ticks * seconds_per_tick;
	to->first = iterations->parts;
	for (uint32_t i = from->first; i < from->first + from->parts; i++) {
		const struct iteration_part *part = &sample->part[i];

		add_length(iterations, length_of(stand_ins->sites, stand_ins->number[part->length]),
				(double)part->ticks * seconds_per_tick);
	}
	to->parts = iterations->parts - to->first;
}

struct rank_iterations *rank_iterations_new(const struct iteration_sample *sample,
		const struct site_table *sites, double ns_per_tick)
{
	struct rank_iterations *iterations = NULL;
	struct stand_ins *stand_ins = NULL;
	size_t bytes;

	if (!sample || !sample->count)
		return NULL;
	bytes = sizeof(*iterations) +
			(size_t)sample->parts * SPAN_SHARES_MAX * sizeof(iterations->part[0]);
	iterations = calloc(1, bytes);
	stand_ins = calloc(1, sizeof(*stand_ins));
	if (iterations && stand_ins) {
		stand_ins->sites = sites;
		find_stand_ins(stand_ins);
		iterations->bytes = bytes;
		for (uint32_t i = 0; i < sample->count; i++)
			add_iteration(iterations, sample, &sample->iteration[i], stand_ins,
					ns_per_tick * 1e-9);
	} else {
		free(iterations);
		iterations = NULL;
	}
	free(stand_ins);
	return iterations;
}

struct rank_iterations *rank_iterations_copy(const struct rank_iterations *from)
{
	struct rank_iterations *copy = from ? malloc(from->bytes) : NULL;

	if (copy)
		memcpy(copy, from, from->bytes);
	return copy;
}
