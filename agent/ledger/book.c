/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ledger/book.h"

#include <math.h>

#include "agent/host/hash.h"
#include "multiplex/mix.h"
#include "sampling/clock.h"

#define SAMPLE_CIRCLE 8 /* number of ranks that sample the same executions */

/*
 * Share of its time for which a burst counts as having had a processor, at least. The processor time of a burst that
 * sleeps, or waits for a device, is that of the system calls, which says nothing about what the program does. Bursts
 * that waited for a processor are not touched, unless for 200 times as long as they had one.
 */
#define PROCESSOR_SHARE_MIN 0.005

/*
 * Returns a number in (0, 1) for the call paths that the burst runs between, equal on every rank. Call paths
 * are either equal or different. Therefore their numbers are random, and spread far beyond any radius.
 */
static double callpath(const struct site_table *sites, const struct burst *burst)
{
	const struct span *span = burst->slice ? NULL : &sites->span[burst->span];
	uint64_t from = sites->paths.path[sites->site[burst->from].path].signature;
	/* a slice may be classified before its burst ends and has a span */
	uint64_t to = span ? sites->paths.path[sites->site[span->to].path].signature : 0;
	uint64_t x = hash_spread(from ^ (to << 1 | to >> 63));

	/* only bits that a float keeps, because a sample holds floats */
	return (double)((x >> 42) | 1) * 0x1p-22;
}

/* Returns the time in ns by which bursts are told apart: that on the processor, where it was read. */
static double burst_length(const struct ledger *ledger, const struct burst *burst)
{
	/* without hardware counters the first event is the time on the processor, in ns */
	bool task_clock = ledger->counting->plan.common == 1;
	double elapsed = clock_ns(burst->ticks);

	if (!task_clock || !burst->values[0])
		return elapsed;
	return fmax((double)burst->values[0], PROCESSOR_SHARE_MIN * elapsed);
}

static double burst_metric(const struct ledger *ledger, enum metric metric,
		const struct site_table *sites, const struct burst *burst)
{
	switch (metric) {
	case METRIC_CALLPATH:
		return callpath(sites, burst);
	case METRIC_CYCLES:
		return (double)burst->values[0];
	case METRIC_INSTRUCTIONS:
		return (double)burst->values[1];
	case METRIC_IPC:
		return burst->values[0] ? (double)burst->values[1] / (double)burst->values[0] : NAN;
	default:
		return burst_length(ledger, burst);
	}
}

/* Returns the place of the code that the burst ran; 0: not known, or phases are not split by place. */
static uint32_t burst_place(const struct ledger *ledger, const struct site_table *sites,
		const struct burst *burst)
{
	if (!ledger->by_place)
		return 0;
	/* a slice may be classified before its burst ends and has a span */
	return burst->slice ? span_place(sites, burst->from, 0) : sites->span[burst->span].place;
}

static void burst_metrics(const struct ledger *ledger, const struct site_table *sites,
		const struct burst *burst, double *metrics)
{
	for (unsigned d = 0; d < ledger->metrics; d++)
		metrics[d] = burst_metric(ledger, ledger->metric[d], sites, burst);
}

static double burst_seconds(const struct burst *burst)
{
	return clock_ns(burst->ticks) * 1e-9;
}

/*
 * Returns the prototype that claims the burst, or -1. A burst whose place has prototypes of its own is not
 * claimed by one of any place: the next generation is more likely to have the right one.
 */
static int classify(const struct prototype_table *table, const double *metrics, uint32_t place)
{
	float point[SPACE_DIMS_MAX];
	int nearest;

	if (!table->count || !space_map(&table->space, metrics, point))
		return -1;
	nearest = prototypes_nearest(table, point, place);
	if (nearest >= 0 && !table->all[nearest].place && prototypes_know_place(table, place))
		return -1;
	return nearest;
}

/*
 * Returns a number for what the burst executes. It is equal for all ranks of a circle that come from the same
 * call equally often. The number of circles grows with the number of ranks, because otherwise the sample would
 * hold few executions. Samples cut bursts at random places, so each slice has a number of its own.
 */
static uint64_t execution_of(const struct ledger *ledger, const struct thread *thread,
		const struct burst *burst)
{
	const struct site_table *sites = &thread->sites;
	uint64_t circles = (ledger->ranks + SAMPLE_CIRCLE - 1) / SAMPLE_CIRCLE;
	const struct site *from;

	if (burst->slice)
		return mix_bits(mix_bits(burst->begin) + thread->identity.place);
	from = &sites->site[burst->from];
	return mix_bits(mix_bits(sites->paths.path[from->path].signature + from->call) +
			mix_bits(burst->execution) + ledger->rank % circles);
}

static void offer(struct ledger *ledger, const struct thread *thread, const struct burst *burst,
		const double *metrics, uint32_t place)
{
	struct sampled_burst sampled = { .execution = execution_of(ledger, thread, burst),
		.seconds = (float)burst_seconds(burst),
		.task = ledger->rank * LEDGER_TASK_THREADS +
				(uint32_t)(thread->identity.place - ledger->rank) %
						LEDGER_TASK_THREADS,
		.place = place,
		/* slices come several in a row */
		.regular = burst->slice ? 1 : burst->regular };

	/* a burst that was read with probability p stands for 1 / p of its kind */
	sampled.key = reservoir_key(sampled.execution, burst_seconds(burst) * burst->weight);
	if (sampled.key >= atomic_load_explicit(&ledger->sample_limit, memory_order_relaxed))
		return;
	for (unsigned d = 0; d < ledger->metrics; d++)
		sampled.metric[d] = (float)metrics[d];
	pthread_mutex_lock(&ledger->lock);
	reservoir_offer(&ledger->sample, &sampled);
	if (ledger->sample.count == RESERVOIR_MAX)
		atomic_store_explicit(&ledger->sample_limit, ledger->sample.burst[0].key,
				memory_order_relaxed);
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_fold_quantum(struct ledger *ledger, struct thread *thread)
{
	const uint16_t *prototypes;
	unsigned group, count;
	double group_weight;

	count = quantum_prototypes(thread->drain.gathered, &prototypes, &group, &group_weight);
	if (ledger->spool)
		for (unsigned i = 0; i < count; i++)
			spool_touch(ledger->spool, prototypes[i], group);
	quantum_close(thread->drain.gathered, ledger->sums);
	if (ledger->spool && thread->drain.spooled >= 0) {
		spool_thread(ledger->spool, thread->drain.spooled)->open = 0;
		spool_touch_thread(ledger->spool, thread->drain.spooled);
	}
}

void book_close_quantum(struct ledger *ledger, struct thread *thread)
{
	pthread_mutex_lock(&ledger->lock);
	ledger_fold_quantum(ledger, thread);
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_locate(struct ledger *ledger, unsigned prototype, const struct burst *burst)
{
	const struct profile_key key = { (uint16_t)prototype, burst->stack };

	pthread_mutex_lock(&ledger->lock);
	profile_add(ledger->profile, burst->address, key, burst->samples);
	pthread_mutex_unlock(&ledger->lock);
}

void book_pour(struct ledger *ledger, struct timeline *timeline, uint64_t now)
{
	timeline_pour(&ledger->timeline, timeline, now);
	/* when the run is over, its thread may still be on the way out of a call, and add the time of it */
	if (atomic_load_explicit(&ledger->rules->finished, memory_order_relaxed))
		timeline_empty(timeline);
	else
		timeline_follow(timeline, &ledger->timeline, now);
}

/* Returns whether the burst is older than what the timeline of the thread's drains has. */
static bool is_older(const struct thread *thread, const struct burst *burst)
{
	return (int64_t)(burst->begin - thread->drain.timeline.start) < 0;
}

/* Adds a burst to the timeline, in which one that was pending lies far back. */
static void time_burst(struct ledger *ledger, struct thread *thread, unsigned prototype,
		const struct burst *burst)
{
	uint64_t end = burst->begin + burst->ticks;

	if (!is_older(thread, burst)) {
		timeline_add_prototype(&thread->drain.timeline, prototype, burst->begin, end,
				burst->ticks);
		return;
	}
	pthread_mutex_lock(&ledger->lock);
	timeline_spread_prototype(&ledger->timeline, prototype, burst->begin, end, burst->ticks);
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_time_kind(struct ledger *ledger, struct thread *thread, enum timeline_kind kind,
		const struct burst *burst, uint64_t ticks)
{
	uint64_t end = burst->begin + burst->ticks;

	if (!is_older(thread, burst)) {
		timeline_add(&thread->drain.timeline, kind, burst->begin, end, ticks);
		return;
	}
	pthread_mutex_lock(&ledger->lock);
	timeline_spread(&ledger->timeline, kind, burst->begin, end, ticks);
	pthread_mutex_unlock(&ledger->lock);
}

static void note_burst(struct thread *thread, unsigned prototype, const struct burst *burst)
{
	if (burst->span == BURST_NO_SPAN) {
		slicer_ahead(&thread->drain.slicer, prototype, (double)burst->ticks);
		return;
	}
	span_mark(thread->sites.noted_since, burst->span);
	span_note(&thread->sites.length[burst->length], prototype, burst->weight,
			(double)burst->ticks);
	atomic_store_explicit(&thread->sites.length[burst->length].latest,
			(uint16_t)(prototype + 1), memory_order_relaxed);
	if (prototype < PROTOTYPES_MAX)
		site_vote_home(&thread->sites.home[prototype], burst->span, (double)burst->ticks);
	if (burst->span > thread->drain.noted)
		thread->drain.noted = burst->span;
}

/* Writes the burst to the table, if there is one. prototype: -1 if none claims it. */
static void record_burst(struct ledger *ledger, const struct thread *thread, int prototype,
		const struct burst *burst)
{
	if (!ledger->bursts)
		return;
	pthread_mutex_lock(&ledger->lock);
	burst_csv_add(ledger->bursts, (unsigned)(thread->identity.place - ledger->rank), prototype,
			burst);
	pthread_mutex_unlock(&ledger->lock);
}

/* Adds a classified burst to its thread's open quantum; bursts come quantum by quantum. */
static void book(struct ledger *ledger, struct thread *thread, const struct prototype_table *table,
		unsigned prototype, const struct burst *burst)
{
	const struct quantum_burst read = {
		.group = burst->group,
		.group_weight = burst->group_weight,
		.weight = burst->weight,
		.seconds = burst_seconds(burst),
		.values = burst->values,
		.slice = burst->slice,
		.when = burst->begin > ledger->start ?
				clock_ns(burst->begin - ledger->start) * 1e-9 :
				0,
	};

	if (thread->drain.gathered_quantum != burst->quantum) {
		book_close_quantum(ledger, thread);
		thread->drain.gathered_quantum = burst->quantum;
	}
	/* relabelling is rare and this is cheap */
	quantum_label(thread->drain.gathered, prototype, table->all[prototype].phase);
	quantum_add(thread->drain.gathered, prototype, &read);
	time_burst(ledger, thread, prototype, burst);
	note_burst(thread, prototype, burst);
	record_burst(ledger, thread, (int)prototype, burst);
	if (burst->samples)
		ledger_locate(ledger, prototype, burst);
}

/* Counts a burst as unclassified for good. */
static void give_up(struct ledger *ledger, struct thread *thread, const struct burst *burst)
{
	record_burst(ledger, thread, -1, burst);
	thread->drain.given_up++;
	thread->drain.given_up_ticks += burst->ticks;
	ledger_time_kind(ledger, thread, TIMELINE_NO_PHASE, burst, burst->ticks);
	note_burst(thread, UNREAD_UNCLASSIFIED, burst);
}

void ledger_leave(struct ledger *ledger, struct thread *thread, const struct burst *burst)
{
	struct span_length *length;

	ledger_time_kind(ledger, thread, TIMELINE_UNPLACED, burst, burst->ticks);
	if (burst->span == BURST_NO_SPAN) {
		slicer_leave_ahead(&thread->drain.slicer, (double)burst->ticks);
		return;
	}
	length = &thread->sites.length[burst->length];
	span_mark(thread->sites.noted_since, burst->span);
	length->left++;
	length->left_ticks += (double)burst->ticks;
}

/* Books a burst that no prototype claims to the prototype that is the best guess, or gives it up. */
static void settle_guess(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst)
{
	double metrics[SPACE_DIMS_MAX];
	float point[SPACE_DIMS_MAX];
	int prototype = -1;

	burst_metrics(ledger, &thread->sites, burst, metrics);
	if (space_map(&table->space, metrics, point))
		prototype = prototypes_guess(table, point,
				burst_place(ledger, &thread->sites, burst));
	if (prototype < 0)
		give_up(ledger, thread, burst);
	else
		book(ledger, thread, table, (unsigned)prototype, burst);
}

static void give_back(struct ledger *ledger, struct pending *place)
{
	pthread_mutex_lock(&ledger->lock);
	pending_give_back(&ledger->pending, place);
	pthread_mutex_unlock(&ledger->lock);
}

/*
 * Keeps a burst that no prototype claims for the next generation. If there is no room, the ones that wait are a
 * random sample, because the others are placed like them.
 */
static void wait_for_next_generation(struct ledger *ledger, struct thread *thread,
		const struct burst *burst)
{
	struct pending_queue *queue = &thread->drain.pending;
	const struct burst *left;
	struct pending *place;

	pthread_mutex_lock(&ledger->lock);
	place = pending_take(&ledger->pending, queue);
	pthread_mutex_unlock(&ledger->lock);
	if (!place) {
		place = pending_replace(queue, mix_bits(burst->begin));
		left = place ? &place->burst : burst;
		record_burst(ledger, thread, -1, left);
		ledger_leave(ledger, thread, left);
	}
	if (!place)
		return;
	place->burst = *burst;
	pending_append(queue, place);
}

void book_settle_pending(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table)
{
	for (unsigned left = thread->drain.pending.count; left; left--) {
		struct pending *place = pending_shift(&thread->drain.pending);
		double metrics[SPACE_DIMS_MAX];
		int prototype;

		burst_metrics(ledger, &thread->sites, &place->burst, metrics);
		prototype = classify(table, metrics,
				burst_place(ledger, &thread->sites, &place->burst));
		if (prototype < 0) {
			pending_append(&thread->drain.pending, place);
			continue;
		}
		book(ledger, thread, table, (unsigned)prototype, &place->burst);
		give_back(ledger, place);
	}
	pending_restart(&thread->drain.pending);
	thread->drain.settled = table->generation;
}

void book_settle_last(struct ledger *ledger, struct thread *thread)
{
	struct pending *place;

	while ((place = pending_shift(&thread->drain.pending))) {
		settle_guess(ledger, thread, ledger->table, &place->burst);
		give_back(ledger, place);
	}
}

int ledger_drain_burst(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst)
{
	uint32_t place = burst_place(ledger, &thread->sites, burst);
	double metrics[SPACE_DIMS_MAX];
	int prototype;

	burst_metrics(ledger, &thread->sites, burst, metrics);
	offer(ledger, thread, burst, metrics, place);
	prototype = classify(table, metrics, place);
	if (prototype < 0)
		wait_for_next_generation(ledger, thread, burst);
	else
		book(ledger, thread, table, (unsigned)prototype, burst);
	return prototype;
}
