/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/region/region.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "agent/host/memory.h"
#include "agent/region/region_file.h"
#include "agent/setup/counting.h"
#include "sampling/clock.h"

int region_open(struct thread *thread, const struct region_setup *setup)
{
	struct region *region = memory_map(sizeof(*region));

	if (!region)
		return -ENOMEM;
	region->facts = (struct region_facts){ .version = REGION_VERSION,
		.rank = setup->rank,
		.size = setup->size,
		.run = setup->run,
		.start = setup->start,
		.ns_per_tick = clock_here.ns_per_tick };
	memcpy(region->facts.magic, REGION_MAGIC, sizeof(region->facts.magic));
	snprintf(region->facts.host, sizeof(region->facts.host), "%s", setup->host);
	region->folder = setup->folder;
	region->counting = setup->counting;
	region->fd = -1;
	region->voted_at = setup->start;
	thread->structure.region_bytes = sizeof(*region);
	thread->structure.region = region;
	return 0;
}

/* ---- calls ---- */

/* Returns the iterations of the anchor's loop until now. */
static uint64_t iterations(const struct region *region, const struct region_anchor *anchor)
{
	return anchor->rows ? region->rows[anchor->site] : region->all[anchor->site];
}

/* Returns the length of the burst before the call of a site; 0: it is not known. */
static uint64_t burst_ticks(const struct thread *thread)
{
	int64_t ticks = (int64_t)(thread->call.entered - thread->call.burst_begin);

	/* the structure has the bursts since the last call that was observed */
	if (ticks <= 0)
		return 0;
	return (uint64_t)ticks < thread->structure.burst ? (uint64_t)ticks :
							   thread->structure.burst;
}

/* Returns 1 + the prototype of the burst before the call of a site; 0: it is short, or not known. */
static unsigned burst_prototype(struct thread *thread, uint32_t site, uint64_t ticks)
{
	struct site_table *sites = &thread->sites;
	uint32_t span;
	unsigned length, number;

	if (!ticks || ticks < thread->burst_min)
		return 0;
	span = span_find(sites, thread->call.burst_site, site);
	length = span_length(sites, &sites->span[span], ticks);
	number = atomic_load_explicit(&sites->length[length].latest, memory_order_relaxed);
	return number <= PROTOTYPES_MAX ? number : 0;
}

static void end_region(struct thread *thread)
{
	struct region *region = thread->structure.region;
	uint64_t ended = iterations(region, &region->anchor);
	struct region_end end = { .iterations = ended - region->first,
		.calls = region->recorded,
		.cut = region->cut || region->error,
		.late = region->late };

	for (unsigned i = 0; i <= PROTOTYPES_MAX; i++)
		region->before[i] = region->ticks[i] - region->before[i];
	region->facts.iterations = end.iterations;
	region->cut = end.cut;
	region->state = REGION_DONE;
	region_file_close(region, &thread->sites, &end);
}

/* Adds the counters of the burst that has ended, if they were read. */
static void record_counts(const struct thread *thread)
{
	struct region *region = thread->structure.region;
	struct region_counts *counts = &region->read[region->reads];
	const struct thread_reading *reading = &thread->reading;
	unsigned group = thread->turn.group;

	if (!thread->burst.reading || !reading->ended || reading->switched)
		return;
	*counts = (struct region_counts){ .call = region->recorded, .group = group };
	region->reads += group_delta(reading->values, reading->end_values,
			region->counting->plan.group[group].count, counts->value);
}

static void record_call(struct thread *thread, uint32_t site, uint64_t now, uint64_t ticks,
		unsigned prototype)
{
	struct region *region = thread->structure.region;

	if (ticks)
		record_counts(thread);
	region->buffer[region->used++] =
			(struct region_call){ .begin = thread->call.entered - ticks,
				.entered = thread->call.entered,
				.left = now,
				.site = (uint16_t)site,
				.prototype = (uint16_t)prototype };
	region->recorded++;
	if (region->used == REGION_BUFFER || region->reads == REGION_READS)
		region_file_flush(region, &thread->sites);
	if (region->recorded == region->order.calls_max || region->error) {
		region->cut = true;
		end_region(thread);
	}
}

/* Starts or ends the region, when the anchor was called. */
static void take_turn(struct thread *thread)
{
	struct region *region = thread->structure.region;
	uint64_t count = iterations(region, &region->anchor);

	if (region->state == REGION_ARMED && count >= region->first) {
		region->late = count > region->first;
		region->first = count;
		memcpy(region->before, region->ticks, sizeof(region->before));
		region->state = REGION_RECORDING;
	} else if (region->state == REGION_RECORDING &&
			count >= region->first + region->order.iterations) {
		end_region(thread);
	}
}

void region_look(struct thread *thread, uint32_t site, uint64_t now)
{
	struct region *region = thread->structure.region;
	uint64_t ticks;
	unsigned prototype;

	/* the region is the only thing that the counts are for */
	if (region->state == REGION_DONE)
		return;
	ticks = burst_ticks(thread);
	prototype = burst_prototype(thread, site, ticks);
	region->ticks[prototype] += ticks;
	region->calls++;
	region->all[site]++;
	region->rows[site] += site != region->last;
	if (region->state == REGION_RECORDING)
		record_call(thread, site, now, ticks, prototype);
	if (__builtin_expect(region->state != REGION_WAITING, 0) && site == region->anchor.site &&
			(site != region->last || !region->anchor.rows))
		take_turn(thread);
	region->last = site;
}

/* ---- rounds ---- */

/* Adds the ticks of bursts since the last vote to the seconds of phases. */
static void vote_phases(struct region *region, const struct prototype_table *table,
		struct region_part *part)
{
	for (unsigned i = 0; i <= PROTOTYPES_MAX; i++) {
		double seconds = clock_ns(region->ticks[i] - region->counted[i]) * 1e-9;
		uint32_t phase = i && i <= table->count ? table->all[i - 1].phase : 0;

		part->seconds[phase < REGION_PHASES_MAX ? phase : REGION_PHASES_MAX] += seconds;
	}
	memcpy(region->counted, region->ticks, sizeof(region->counted));
}

/* Adds the loop that the thread repeats, if it has repeated it since the last vote. */
static void vote_loop(struct region *region, uint64_t now, struct region_part *part)
{
	uint64_t count = iterations(region, &region->anchor);
	double since = clock_ns(now - region->voted_at) * 1e-9, more;

	if (!region->anchor.shape || count <= region->voted_iterations || !(since > 0))
		return;
	more = (double)(count - region->voted_iterations);
	part->loops = 1;
	part->loop[0] = (struct region_loop){ .shape = region->anchor.shape,
		.ranks = 1,
		.least = (double)count,
		.most = (double)count,
		.rate = more / since,
		.calls = (double)(region->calls - region->voted_calls) / more };
}

void region_vote(struct thread *thread, const struct region_anchor *anchor,
		const struct prototype_table *table, struct region_part *part)
{
	struct region *region = thread->structure.region;
	uint64_t now = clock_now();
	bool same = anchor->shape == region->anchor.shape;

	memset(part, 0, sizeof(*part));
	part->ranks = 1;
	vote_phases(region, table, part);
	for (unsigned i = 0; i < PROTOTYPES_MAX; i++)
		region->phase[i] = i < table->count ? table->all[i].phase : 0;
	if (region->state != REGION_WAITING)
		return;
	region->anchor = *anchor;
	if (same)
		vote_loop(region, now, part);
	region->voted_at = now;
	region->voted_calls = region->calls;
	region->voted_iterations = iterations(region, anchor);
}

/* Returns whether calls were made that the thread has not observed. */
static bool has_missed(const struct thread *thread)
{
	return atomic_load_explicit(&thread->counts.skipped, memory_order_relaxed) ||
			atomic_load_explicit(&thread->counts.rested_calls, memory_order_relaxed) ||
			thread->unobserved;
}

void region_take_order(struct thread *thread, const struct region_order *order)
{
	struct region *region = thread->structure.region;

	if (!order->iterations || region->state != REGION_WAITING)
		return;
	for (unsigned i = 0; i < order->loops && i < REGION_SHAPES_MAX; i++) {
		if (order->loop[i].shape != region->anchor.shape)
			continue;
		region->order = *order;
		region->first = order->loop[i].first;
		region->facts.iterations = order->iterations;
		region->facts.inexact = has_missed(thread);
		region->state = REGION_ARMED;
		region_file_open(region);
		skip_stop(thread->skip);
		thread->window.multiple = 0;
		thread->resting.wanted = 0;
		return;
	}
	region->state = REGION_DONE;
}

void region_keep(struct thread *thread)
{
	struct region *region = thread->structure.region;

	if (region && region->state == REGION_RECORDING)
		region_file_flush(region, &thread->sites);
}

void region_finish(struct thread *thread)
{
	struct region *region = thread->structure.region;

	if (!region)
		return;
	if (region->state == REGION_ARMED) {
		region->first = iterations(region, &region->anchor);
		memcpy(region->before, region->ticks, sizeof(region->before));
	}
	if (region->state == REGION_ARMED || region->state == REGION_RECORDING)
		end_region(thread);
	region->state = REGION_DONE;
}

void region_total(const struct thread *thread, struct region_totals *totals)
{
	const struct region *region = thread->structure.region;

	if (!region || !region->order.iterations)
		return;
	totals->ranks += region->recorded > 0;
	totals->iterations += (double)region->facts.iterations;
	totals->calls += (double)region->recorded;
	totals->whole += region->facts.iterations == region->order.iterations;
	totals->late += region->late;
	totals->cut += region->cut;
	totals->inexact += region->facts.inexact;
	totals->lost += region->error != 0;
	for (unsigned i = 0; i <= PROTOTYPES_MAX; i++)
		totals->seconds[i] += clock_ns(region->before[i]) * 1e-9;
}
