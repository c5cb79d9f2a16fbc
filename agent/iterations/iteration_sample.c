/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/iterations/iteration_sample.h"

#include <string.h>

#include "agent/thread/site.h"
#include "cluster/loops/iteration.h"
#include "multiplex/mix.h"

#define TICKS_MAX 0x1p60 /* of an iteration in a file */

void iteration_sample_start(struct iteration_sample *sample, const struct anchor *anchor)
{
	sample->anchor = *anchor;
	sample->stride = 1;
	sample->rest = sample->count = sample->parts = 0;
}

uint32_t iteration_sample_draw(struct iteration_sample *sample)
{
	uint32_t drawn = (uint32_t)(mix_next(&sample->random) % sample->stride);
	uint32_t pass = sample->rest + drawn;

	sample->rest = sample->stride - 1 - drawn;
	return pass;
}

/* Moves an iteration to the end of those that are kept. */
static void keep_iteration(struct iteration_sample *sample, const struct sampled_iteration *kept)
{
	struct sampled_iteration *to = &sample->iteration[sample->count++];
	uint32_t first = kept->first;

	*to = (struct sampled_iteration){ kept->ticks, sample->parts, kept->parts };
	memmove(&sample->part[to->first], &sample->part[first],
			to->parts * sizeof(sample->part[0]));
	sample->parts += to->parts;
}

/* Keeps one of each two neighbours, at random. */
static void halve(struct iteration_sample *sample)
{
	uint32_t count = sample->count;

	sample->count = sample->parts = 0;
	for (uint32_t i = 0; i < count; i += 2) {
		uint32_t kept = i + (mix_next(&sample->random) & 1);

		if (kept < count)
			keep_iteration(sample, &sample->iteration[kept]);
	}
	if (sample->stride < UINT32_MAX / 2)
		sample->stride *= 2;
}

void iteration_sample_add(struct iteration_sample *sample, uint64_t ticks,
		const struct iteration_part *part, uint32_t parts)
{
	while (sample->count == ITERATION_SAMPLE_MAX || sample->parts + parts > ITERATION_PARTS_MAX)
		halve(sample);
	sample->iteration[sample->count++] =
			(struct sampled_iteration){ ticks, sample->parts, parts };
	memcpy(&sample->part[sample->parts], part, parts * sizeof(*part));
	sample->parts += parts;
}

bool iteration_sample_is_valid(const struct iteration_sample *sample)
{
	if (sample->count > ITERATION_SAMPLE_MAX || sample->parts > ITERATION_PARTS_MAX)
		return false;
	for (uint32_t i = 0; i < sample->count; i++) {
		const struct sampled_iteration *iteration = &sample->iteration[i];

		if (iteration->first > sample->parts ||
				iteration->parts > sample->parts - iteration->first ||
				!((double)iteration->ticks <= TICKS_MAX))
			return false;
	}
	for (uint32_t i = 0; i < sample->parts; i++)
		if (sample->part[i].length >= LENGTHS_MAX ||
				!(sample->part[i].ticks >= 0 &&
						(double)sample->part[i].ticks <= TICKS_MAX))
			return false;
	return true;
}

bool iteration_sample_is_of(const struct iteration_sample *sample, const struct loops *loops)
{
	struct iteration iteration;

	return sample->count && iteration_find(loops, NULL, &iteration) &&
			anchor_is_of(loops, iteration.cell, &sample->anchor);
}
