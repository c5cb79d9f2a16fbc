/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/thread/slices.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "agent/thread/site.h"
#include "sampling/clock.h"

uint64_t slicer_look(struct slicer *slicer)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	slicer->now_ticks = clock_now();
	slicer->now_ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	return overflow_head(&slicer->overflow);
}

static uint64_t ticks_of(const struct slicer *slicer, uint64_t ns)
{
	return ns < slicer->now_ns ?
			slicer->now_ticks - clock_ticks((double)(slicer->now_ns - ns)) :
			slicer->now_ticks;
}

static uint64_t ns_of(const struct slicer *slicer, uint64_t ticks)
{
	return ticks < slicer->now_ticks ?
			slicer->now_ns - (uint64_t)clock_ns(slicer->now_ticks - ticks) :
			slicer->now_ns;
}

bool slicer_wants(const struct slicer *slicer, uint64_t begin, uint64_t end, uint64_t head)
{
	return slicer->since == begin ||
			overflow_count(&slicer->overflow, head, ns_of(slicer, begin),
					ns_of(slicer, end), SLICES_MIN) == SLICES_MIN;
}

static unsigned group_of(const struct slicer *slicer, const struct overflow_sample *sample)
{
	unsigned group = 0;

	while (group < PLAN_GROUPS_MAX && slicer->id[group] != sample->id)
		group++;
	return group;
}

/*
 * Adds the cost of a sample that was taken out of the ring, and of lost ones before it, whose number is known
 * now. The kernel also interrupts the thread while that is in the kernel, but writes no sample then.
 */
static void account_sample(struct slicer *slicer, const struct overflow_sample *sample)
{
	uint64_t lost = slicer->overflow.lost;
	uint64_t samples = 1 + lost - atomic_load_explicit(&slicer->lost, memory_order_relaxed);
	unsigned group = group_of(slicer, sample);

	if (group < PLAN_GROUPS_MAX && slicer->sample_ns) {
		uint64_t ran = sample->clock - slicer->clock[group];
		uint64_t periods = (ran + slicer->sample_ns / 2) / slicer->sample_ns;

		if ((int64_t)ran > 0 && periods > samples)
			samples = periods;
		slicer->clock[group] = sample->clock;
	}
	site_add(&slicer->sample_ticks, samples * slicer->sample_cost);
	atomic_store_explicit(&slicer->lost, lost, memory_order_relaxed);
}

bool slicer_sample(struct slicer *slicer, uint64_t begin, uint64_t end, uint64_t head,
		struct overflow_sample *sample, uint64_t *at)
{
	while (overflow_peek(&slicer->overflow, head, sample)) {
		*at = ticks_of(slicer, sample->time);
		if (*at >= end)
			break;
		overflow_callers(&slicer->overflow, &slicer->stack);
		overflow_take(&slicer->overflow);
		account_sample(slicer, sample);
		if (*at < begin)
			continue;
		site_add(&slicer->samples, 1);
		return true;
	}
	return false;
}

void slicer_drop(struct slicer *slicer, uint64_t ticks)
{
	struct overflow_sample sample;
	uint64_t at;

	slicer_sample(slicer, ticks, ticks, slicer_look(slicer), &sample, &at);
}

static void leave_sample(struct slicer *slicer, uint64_t ticks)
{
	slicer->left++;
	slicer->left_ticks += ticks;
}

/* Returns the number of periods from the last sample to this one of the same group, which are `ticks` apart. */
static uint64_t periods_until(const struct slicer *slicer, const struct overflow_sample *sample,
		uint64_t ticks)
{
	double ran = (double)(int64_t)(sample->clock - slicer->last.clock);
	double periods = fmin(ran, clock_ns(ticks)) / (double)slicer->sample_ns;

	return periods > 1 ? (uint64_t)(periods + 0.5) : 1;
}

/* Makes a piece from the last sample to this one. Returns false if samples between them are lost, or it is invalid. */
static bool make_piece(struct slicer *slicer, const struct burst *burst,
		const struct overflow_sample *sample, uint64_t ticks, const unsigned *counts)
{
	unsigned group = group_of(slicer, sample);
	struct burst *piece = &slicer->piece;

	if (sample->id != slicer->last.id || sample->lost != slicer->last.lost ||
			group == PLAN_GROUPS_MAX || sample->count < counts[group] ||
			ticks <= slicer->last_ticks)
		return false;
	*piece = *burst;
	piece->begin = slicer->last_ticks;
	piece->ticks = ticks - slicer->last_ticks;
	piece->group = (uint16_t)group;
	piece->slice = true;
	piece->is_long = false;
	/* the thread was at the address where the piece ends for at least a moment */
	piece->address = sample->address;
	if (!group_delta(slicer->last.values, sample->values, counts[group], piece->values))
		return false;
	slicer->periods = periods_until(slicer, sample, piece->ticks);
	return true;
}

/* Takes the next slice of the piece. The last one has the sample. */
static void take_slice(struct slicer *slicer, struct burst *slice)
{
	struct burst *piece = &slicer->piece;

	*slice = *piece;
	slice->ticks /= slicer->periods;
	slice->samples = slicer->periods == 1;
	for (unsigned e = 0; e < GROUP_EVENTS_MAX; e++) {
		slice->values[e] /= slicer->periods;
		piece->values[e] -= slice->values[e];
	}
	piece->begin += slice->ticks;
	piece->ticks -= slice->ticks;
	slicer->periods--;
	slicer->slices++;
	site_add(&slicer->all_slices, 1);
}

bool slicer_cut(struct slicer *slicer, const struct burst *burst, uint64_t end, uint64_t head,
		const unsigned *counts, struct burst *slice)
{
	struct overflow_sample sample;
	uint64_t ticks;

	while (!slicer->periods &&
			slicer_sample(slicer, burst->begin, end, head, &sample, &ticks)) {
		if (slicer->since != burst->begin) {
			slicer->since = burst->begin;
			slicer->slices = slicer->left = slicer->left_ticks = 0;
			leave_sample(slicer, ticks - burst->begin);
		} else if (!make_piece(slicer, burst, &sample, ticks, counts)) {
			leave_sample(slicer,
					ticks > slicer->last_ticks ? ticks - slicer->last_ticks :
								     0);
		}
		slicer->last = sample;
		slicer->last_ticks = ticks > slicer->last_ticks ? ticks : slicer->last_ticks;
	}
	if (!slicer->periods)
		return false;
	take_slice(slicer, slice);
	return true;
}

uint64_t slicer_end(struct slicer *slicer, const struct burst *burst, uint64_t *left,
		uint64_t *left_ticks)
{
	uint64_t slices = slicer->since == burst->begin ? slicer->slices : 0;
	uint64_t end = burst->begin + burst->ticks;

	if (slices) {
		leave_sample(slicer, end > slicer->last_ticks ? end - slicer->last_ticks : 0);
		*left = slicer->left;
		*left_ticks = slicer->left_ticks;
		site_add(&slicer->extra, slices + slicer->left - 1);
	}
	slicer->since = slicer->last_ticks = 0;
	atomic_store_explicit(&slicer->ahead_bursts, 0, memory_order_relaxed);
	atomic_store_explicit(&slicer->ahead_ticks, 0, memory_order_relaxed);
	return slices;
}

void slicer_ahead(struct slicer *slicer, unsigned prototype, double ticks)
{
	slicer->ahead.count[prototype]++;
	slicer->ahead.ticks[prototype] += (float)ticks;
}

void slicer_leave_ahead(struct slicer *slicer, double ticks)
{
	slicer->ahead.left++;
	slicer->ahead.left_ticks += ticks;
}
