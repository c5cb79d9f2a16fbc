/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ledger.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "agent/ledger_inside.h"
#include "agent/memory.h"
#include "agent/own_heap.h"
#include "agent/readers.h"
#include "multiplex/preference.h"
#include "sampling/clock.h"

/* Range of the numbers of call paths in the space, in which the range of each other metric is 1. */
#define CALLPATH_WEIGHT 1024

/*
 * Length from which a burst is placed by its span and length, even if it was short when it ended. Looking both
 * up takes some 10 ns, a thousandth of this length.
 */
#define PLACED_NS 10e3

#define SAMPLE_CIRCLE  8    /* number of ranks that sample the same executions */
#define SAMPLE_THREADS 1024 /* thread numbers for each rank, in the number of a task */

/* ---- making it ---- */

/*
 * Chooses the metrics that span the space. Without a list from the user these are instructions and IPC, or time
 * if instructions cannot be counted. Phases are then split by place, if their places differ. With a list these
 * are its metrics, or time and its call paths if instructions cannot be counted.
 */
static void choose_metrics(struct ledger *ledger, const struct settings *settings)
{
	ledger->by_place = !settings->metrics;
	if (ledger->counting->plan.common < 2) {
		ledger->metrics = 1;
		ledger->metric[0] = METRIC_DURATION;
		for (unsigned d = 0; d < settings->metrics; d++)
			if (settings->metric[d] == METRIC_CALLPATH)
				ledger->metric[ledger->metrics++] = METRIC_CALLPATH;
		return;
	}
	if (!settings->metrics) {
		ledger->metrics = 2;
		ledger->metric[0] = METRIC_INSTRUCTIONS;
		ledger->metric[1] = METRIC_IPC;
		return;
	}
	ledger->metrics = settings->metrics;
	memcpy(ledger->metric, settings->metric, sizeof(ledger->metric));
}

static struct prototype_table *new_table(const struct ledger *ledger)
{
	struct prototype_table *table = calloc(1, sizeof(*table));

	if (!table)
		return NULL;
	table->space.dims = ledger->metrics;
	for (unsigned d = 0; d < ledger->metrics; d++) {
		table->space.logarithmic[d] = ledger->metric[d] != METRIC_IPC &&
				ledger->metric[d] != METRIC_CALLPATH;
		table->space.range[d] = 1;
		table->space.weight[d] = ledger->metric[d] == METRIC_CALLPATH ? CALLPATH_WEIGHT : 1;
	}
	return table;
}

struct ledger *ledger_new(const struct counting *counting, struct thread_rules *rules,
		const struct settings *settings, int rank, int ranks, struct spool *spool)
{
	struct ledger *ledger = calloc(1, sizeof(*ledger));

	if (!ledger)
		return NULL;
	ledger->counting = counting;
	ledger->rules = rules;
	ledger->rank = (uint32_t)rank;
	ledger->ranks = (uint32_t)ranks;
	ledger->sample_limit = INFINITY;
	pthread_mutex_init(&ledger->lock, NULL);
	choose_metrics(ledger, settings);
	ledger->budget = settings->budget;
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
		ledger->preferences[0][p] = 1;
	ledger->preference = ledger->preferences[0];
	ledger->burst_min_given = settings->burst_min_ns >= 0;
	ledger->burst_min_ns = ledger->burst_min_given ? (uint64_t)settings->burst_min_ns : 1000;
	rules->burst_min_given = ledger->burst_min_given;
	rules->placed_ticks = clock_ticks(PLACED_NS);
	atomic_store(&rules->burst_min, clock_ticks((double)ledger->burst_min_ns));
	ledger->table = new_table(ledger);
	ledger->spare = new_table(ledger);
	if (rules->sample_ns)
		ledger->fold = fold_new(&counting->plan);
	ledger->own_profile = spool ? NULL : calloc(1, sizeof(*ledger->own_profile));
	ledger->profile = spool ? spool_profile(spool) : ledger->own_profile;
	ledger->spool = spool;
	ledger->sums = spool ? sums_over(&counting->plan, PROTOTYPES_MAX, spool_sums(spool)) :
			       sums_new(&counting->plan, PROTOTYPES_MAX);
	if (!ledger->table || !ledger->spare || !ledger->sums || !ledger->profile)
		goto fail;
	return ledger;
fail:
	ledger_free(ledger);
	return NULL;
}

void ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	free(ledger->own_profile);
	fold_free(ledger->fold);
	sums_free(ledger->sums);
	free(ledger->spare);
	free(ledger->table);
	free(ledger);
}

/* Returns the bytes of memory that the ledger and the threads have now. */
static size_t memory_of(const struct ledger *ledger, const struct thread *threads)
{
	size_t bytes = memory_resident(ledger, sizeof(*ledger)) +
			2 * sizeof(struct prototype_table);

	bytes += ledger->spool ? spool_bytes(ledger->spool) :
				 memory_resident(sums_flat(ledger->sums),
						 sums_length(ledger->sums) * sizeof(double));
	if (ledger->fold)
		bytes += fold_bytes(ledger->fold);
	for (const struct thread *thread = threads; thread; thread = thread->next)
		bytes += thread_resident(thread);
	return bytes;
}

void ledger_keep_bytes(struct ledger *ledger, const struct thread *threads, size_t others)
{
	if (!ledger->spool)
		return;
	pthread_mutex_lock(&ledger->lock);
	spool_side(ledger->spool)->own_bytes = (double)(others + memory_of(ledger, threads));
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_record(struct ledger *ledger, struct burst_table *table)
{
	pthread_mutex_lock(&ledger->lock);
	ledger->bursts = table;
	pthread_mutex_unlock(&ledger->lock);
}

int ledger_admit(struct ledger *ledger, struct thread *thread)
{
	void *memory = memory_map(quantum_bytes(ledger->sums));

	if (!memory)
		return -ENOMEM;
	thread->gathered = quantum_init(memory, ledger->sums);
	thread->gathered_bytes = quantum_bytes(ledger->sums);
	thread->spooled = -ENOENT;
	if (ledger->spool) {
		pthread_mutex_lock(&ledger->lock);
		thread->spooled = spool_admit(ledger->spool);
		pthread_mutex_unlock(&ledger->lock);
	}
	return 0;
}

/* ---- classifying ---- */

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
	uint64_t x = (from ^ (to << 1 | to >> 63)) * 0x9e3779b97f4a7c15u;

	/* only bits that a float keeps, because a sample holds floats */
	return (double)((x >> 42) | 1) * 0x1p-22;
}

static double burst_metric(const struct ledger *ledger, enum metric metric,
		const struct site_table *sites, const struct burst *burst)
{
	/* without hardware counters the first event is the time on the processor, in ns */
	bool task_clock = ledger->counting->plan.common == 1;

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
		return task_clock && burst->values[0] ? (double)burst->values[0] :
							clock_ns(burst->ticks);
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

/* Mixes with the finaliser of SplitMix64. */
uint64_t ledger_mixed(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
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
		return ledger_mixed(ledger_mixed(burst->begin) + thread->place);
	from = &sites->site[burst->from];
	return ledger_mixed(ledger_mixed(sites->paths.path[from->path].signature + from->call) +
			ledger_mixed(burst->execution) + ledger->rank % circles);
}

static void offer(struct ledger *ledger, const struct thread *thread, const struct burst *burst,
		const double *metrics, uint32_t place)
{
	struct sampled_burst sampled = { .execution = execution_of(ledger, thread, burst),
		.seconds = (float)burst_seconds(burst),
		.task = ledger->rank * SAMPLE_THREADS +
				(uint32_t)(thread->place - ledger->rank) % SAMPLE_THREADS,
		.place = place,
		/* slices come several in a row */
		.regular = burst->slice ? 1 : burst->regular };

	/* a burst that was read with probability p stands for 1 / p of its kind */
	sampled.key = sample_key(sampled.execution, burst_seconds(burst) * burst->weight);
	if (sampled.key >= atomic_load_explicit(&ledger->sample_limit, memory_order_relaxed))
		return;
	for (unsigned d = 0; d < ledger->metrics; d++)
		sampled.metric[d] = (float)metrics[d];
	pthread_mutex_lock(&ledger->lock);
	sample_offer(&ledger->sample, &sampled);
	if (ledger->sample.count == SAMPLE_MAX)
		atomic_store_explicit(&ledger->sample_limit, ledger->sample.burst[0].key,
				memory_order_relaxed);
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_fold_quantum(struct ledger *ledger, struct thread *thread)
{
	const uint16_t *prototypes;
	unsigned group, count;
	double group_weight;

	count = quantum_prototypes(thread->gathered, &prototypes, &group, &group_weight);
	if (ledger->spool)
		for (unsigned i = 0; i < count; i++)
			spool_touch(ledger->spool, prototypes[i], group);
	quantum_close(thread->gathered, ledger->sums);
	if (ledger->spool && thread->spooled >= 0) {
		spool_thread(ledger->spool, thread->spooled)->open = 0;
		spool_touch_thread(ledger->spool, thread->spooled);
	}
}

static void close_quantum(struct ledger *ledger, struct thread *thread)
{
	pthread_mutex_lock(&ledger->lock);
	ledger_fold_quantum(ledger, thread);
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_locate(struct ledger *ledger, unsigned prototype, uintptr_t address, unsigned samples)
{
	pthread_mutex_lock(&ledger->lock);
	profile_add(ledger->profile, address, prototype, samples);
	pthread_mutex_unlock(&ledger->lock);
}

static void note(struct thread *thread, unsigned prototype, const struct burst *burst)
{
	if (burst->span == BURST_NO_SPAN) {
		slicer_ahead(&thread->slicer, prototype, (double)burst->ticks);
		return;
	}
	span_mark(thread->sites.noted_since, burst->span);
	span_note(&thread->sites.length[burst->length], prototype, burst->weight,
			(double)burst->ticks);
	if (prototype < PROTOTYPES_MAX)
		site_vote_home(&thread->sites.home[prototype], burst->span, (double)burst->ticks);
	if (burst->span > thread->noted)
		thread->noted = burst->span;
}

/* Adds a classified burst to its thread's open quantum; bursts come quantum by quantum. */
static void book(struct ledger *ledger, struct thread *thread, const struct prototype_table *table,
		unsigned prototype, const struct burst *burst)
{
	if (thread->gathered_quantum != burst->quantum) {
		close_quantum(ledger, thread);
		thread->gathered_quantum = burst->quantum;
	}
	/* relabelling is rare and this is cheap */
	quantum_label(thread->gathered, prototype, table->all[prototype].phase);
	quantum_add(thread->gathered, prototype, burst->group, burst->group_weight, burst->weight,
			burst_seconds(burst), burst->values);
	note(thread, prototype, burst);
	if (burst->samples)
		ledger_locate(ledger, prototype, burst->address, burst->samples);
}

/* Counts a burst as unclassified for good. */
static void give_up(struct thread *thread, const struct burst *burst)
{
	thread->given_up++;
	thread->given_up_ticks += burst->ticks;
	note(thread, UNREAD_UNCLASSIFIED, burst);
}

/*
 * Counts a burst for which there is no room until the next generation. At the end it is placed like the read
 * bursts of its span and length. Without a span it is given up.
 */
static void leave(struct thread *thread, const struct burst *burst)
{
	struct span_length *length;

	if (burst->span == BURST_NO_SPAN) {
		give_up(thread, burst);
		return;
	}
	length = &thread->sites.length[burst->length];
	span_mark(thread->sites.noted_since, burst->span);
	length->left++;
	length->left_ticks += (double)burst->ticks;
}

/* Books a burst that no prototype claims to the prototype that is the best guess, or gives it up. */
static void settle_last(struct ledger *ledger, struct thread *thread,
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
		give_up(thread, burst);
	else
		book(ledger, thread, table, (unsigned)prototype, burst);
}

static void give_back(struct ledger *ledger, struct pending *place)
{
	pthread_mutex_lock(&ledger->lock);
	pending_give_back(&ledger->pending, place);
	pthread_mutex_unlock(&ledger->lock);
}

/* Keeps a burst that no prototype claims for the next generation. It may replace the thread's oldest one. */
static void wait_for_next_generation(struct ledger *ledger, struct thread *thread,
		const struct burst *burst)
{
	struct pending *place;

	pthread_mutex_lock(&ledger->lock);
	place = pending_take(&ledger->pending, &thread->pending);
	pthread_mutex_unlock(&ledger->lock);
	if (!place) {
		place = pending_shift(&thread->pending);
		leave(thread, place ? &place->burst : burst);
	}
	if (!place)
		return;
	place->burst = *burst;
	pending_append(&thread->pending, place);
}

/* Books the pending bursts that the new generation claims. */
static void settle_pending(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table)
{
	for (unsigned left = thread->pending.count; left; left--) {
		struct pending *place = pending_shift(&thread->pending);
		double metrics[SPACE_DIMS_MAX];
		int prototype;

		burst_metrics(ledger, &thread->sites, &place->burst, metrics);
		prototype = classify(table, metrics,
				burst_place(ledger, &thread->sites, &place->burst));
		if (prototype < 0) {
			pending_append(&thread->pending, place);
			continue;
		}
		book(ledger, thread, table, (unsigned)prototype, &place->burst);
		give_back(ledger, place);
	}
	thread->settled = table->generation;
}

static void record(struct ledger *ledger, const struct thread *thread, const struct burst *burst)
{
	if (!ledger->bursts)
		return;
	pthread_mutex_lock(&ledger->lock);
	burst_table_add(ledger->bursts, (unsigned)(thread->place - ledger->rank), burst);
	pthread_mutex_unlock(&ledger->lock);
}

int ledger_drain_burst(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst)
{
	uint32_t place = burst_place(ledger, &thread->sites, burst);
	double metrics[SPACE_DIMS_MAX];
	int prototype;

	record(ledger, thread, burst);
	burst_metrics(ledger, &thread->sites, burst, metrics);
	offer(ledger, thread, burst, metrics, place);
	prototype = classify(table, metrics, place);
	if (prototype < 0)
		wait_for_next_generation(ledger, thread, burst);
	else
		book(ledger, thread, table, (unsigned)prototype, burst);
	return prototype;
}

/* Empties the thread's ring. Caller holds the thread's `draining` flag. */
static void drain(struct ledger *ledger, struct thread *thread)
{
	const struct prototype_table *table;
	const struct burst *burst;

	readers_enter(ledger->rules);
	table = rcu_dereference(ledger->table);
	if (thread->settled != table->generation) {
		settle_pending(ledger, thread, table);
		site_prefer(&thread->sites, thread->noted, rcu_dereference(ledger->preference));
	}
	while ((burst = ring_peek(&thread->ring))) {
		if (burst->unread)
			ledger_drain_unread(ledger, thread, table, burst);
		else if (burst->is_long)
			ledger_drain_long(ledger, thread, table, burst,
					slicer_look(&thread->slicer));
		else
			ledger_drain_whole(ledger, thread, table, burst);
		ring_release(&thread->ring);
	}
	ledger_drain_under_way(ledger, thread, table);
	readers_leave(ledger->rules);
}

void ledger_drain(struct ledger *ledger, struct thread *thread)
{
	/* pairs with the release below: the previous drain has released its records and written its sums */
	if (atomic_flag_test_and_set_explicit(&thread->draining, memory_order_acquire))
		return;
	if (!atomic_load_explicit(&ledger->closed, memory_order_relaxed))
		drain(ledger, thread);
	atomic_flag_clear_explicit(&thread->draining, memory_order_release);
}

/* ---- rounds ---- */

/* Adds a thread's bin, in ticks, to a round's bins, in nanoseconds: clocks differ between machines. */
static void add_length(double seconds_by_length[HISTOGRAM_BINS], unsigned bin,
		const _Atomic uint64_t *ticks)
{
	double length = clock_ns(histogram_floor(bin));

	seconds_by_length[histogram_bin((uint64_t)length)] +=
			clock_ns(atomic_load_explicit(ticks, memory_order_relaxed)) * 1e-9;
}

/* Sums bursts that have ended, and slices of bursts under way, because these may last as long as the run. */
static void sum_lengths(const struct ledger *ledger, const struct thread *threads,
		double seconds_by_length[HISTOGRAM_BINS])
{
	memset(seconds_by_length, 0, HISTOGRAM_BINS * sizeof(*seconds_by_length));
	for (const struct thread *thread = threads; thread; thread = thread->next) {
		for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++)
			add_length(seconds_by_length, bin, &thread->counts.histogram[bin]);
		add_length(seconds_by_length, histogram_bin(thread_cut_length(ledger->rules)),
				&thread->slicer.ahead_ticks);
	}
}

void ledger_part(struct ledger *ledger, const struct thread *threads, struct ledger_part *part)
{
	sum_lengths(ledger, threads, part->seconds_by_length);
	pthread_mutex_lock(&ledger->lock);
	part->sample = ledger->sample;
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_give(struct ledger *ledger, const struct thread *threads, struct ledger_part *part)
{
	double seconds_by_length[HISTOGRAM_BINS];

	sum_lengths(ledger, threads, seconds_by_length);
	for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
		part->seconds_by_length[bin] += seconds_by_length[bin] - ledger->given[bin];
		ledger->given[bin] = seconds_by_length[bin];
	}
	pthread_mutex_lock(&ledger->lock);
	sample_merge(&part->sample, &ledger->sample);
	ledger->sample.count = 0;
	/* bursts that the merged sample rejects need not be offered */
	atomic_store_explicit(&ledger->sample_limit,
			part->sample.count == SAMPLE_MAX ? part->sample.burst[0].key : INFINITY,
			memory_order_relaxed);
	pthread_mutex_unlock(&ledger->lock);
}

void ledger_part_merge(const void *in, void *inout)
{
	const struct ledger_part *from = in;
	struct ledger_part *into = inout;

	for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++)
		into->seconds_by_length[bin] += from->seconds_by_length[bin];
	sample_merge(&into->sample, &from->sample);
}

/* Returns the CPU time of the calling thread in ns. Wall time would include other threads on its processor. */
static double thread_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void ledger_train(struct ledger *ledger, const struct ledger_part *all,
		struct ledger_answer *answer)
{
	uint32_t count = all->sample.count, *task, *place;
	struct training_sample training = { .count = 0 };
	double *metrics, *seconds;
	float *regular;
	uint64_t *execution, kept_ns;
	double begin = thread_ns();

	own_heap_begin();
	metrics = malloc((count + 1) * ledger->metrics * sizeof(*metrics));
	seconds = malloc((count + 1) * sizeof(*seconds));
	task = malloc((count + 1) * sizeof(*task));
	execution = malloc((count + 1) * sizeof(*execution));
	place = malloc((count + 1) * sizeof(*place));
	regular = malloc((count + 1) * sizeof(*regular));
	kept_ns = ledger->burst_min_given ? ledger->burst_min_ns :
					    histogram_keep(all->seconds_by_length, 0.99);
	/* phases are found among bursts of at least kept_ns; half of it keeps them if bursts become shorter */
	answer->burst_min_ns = ledger->burst_min_given ? kept_ns : kept_ns / 2;
	answer->table = *ledger->table;
	if (!metrics || !seconds || !task || !execution || !place || !regular)
		goto out;
	for (uint32_t i = 0; i < count; i++) {
		const struct sampled_burst *burst = &all->sample.burst[i];
		size_t at = training.count;

		if (burst->seconds * 1e9 < (double)kept_ns)
			continue;
		for (unsigned d = 0; d < ledger->metrics; d++)
			metrics[at * ledger->metrics + d] = burst->metric[d];
		seconds[at] = burst->seconds;
		task[at] = burst->task;
		execution[at] = burst->execution;
		place[at] = burst->place;
		regular[at] = burst->regular;
		training.count++;
	}
	training.metrics = metrics;
	training.duration = seconds;
	training.task = task;
	training.process_tasks = SAMPLE_THREADS;
	training.execution = execution;
	if (ledger->by_place) {
		training.place = place;
		training.regular = regular;
	}
	/* if training fails, the answer holds the table as it was */
	if (training.count)
		prototypes_train(&training, ledger->table, &answer->table);
out:
	free(metrics);
	free(seconds);
	free(task);
	free(execution);
	free(place);
	free(regular);
	own_heap_end();
	ledger->training_ns += thread_ns() - begin;
}

double ledger_training_ns(const struct ledger *ledger)
{
	return ledger->training_ns;
}

/* Returns which groups are worth more quanta, learnt from the sums; NULL: the scheme is not adaptive. */
static struct adaptive *learn_shares(struct ledger *ledger, const struct prototype_table *table)
{
	struct thread_rules *rules = ledger->rules;
	struct adaptive *next = &ledger->adaptive[rules->adaptive == &ledger->adaptive[0]];
	uint32_t phase[PROTOTYPES_MAX] = { 0 };

	if (rules->scheme.kind != SCHEME_ADAPTIVE)
		return NULL;
	if (rules->adaptive)
		*next = *rules->adaptive;
	else
		adaptive_init(next, rules->scheme.groups);
	for (uint32_t p = 0; p < table->count; p++)
		phase[p] = table->all[p].phase;
	pthread_mutex_lock(&ledger->lock);
	adaptive_learn(next, ledger->sums, phase);
	pthread_mutex_unlock(&ledger->lock);
	return next;
}

/* Returns which phases are worth more reads, learnt from the sums if the budget does not allow all reads. */
static float *learn_preference(struct ledger *ledger, const struct prototype_table *table)
{
	float *next = ledger->preferences[ledger->preference == ledger->preferences[0]];
	uint32_t phase[PROTOTYPES_MAX] = { 0 };

	if (!isfinite(ledger->budget))
		return ledger->preference;
	for (uint32_t p = 0; p < table->count; p++)
		phase[p] = table->all[p].phase;
	pthread_mutex_lock(&ledger->lock);
	preference_learn(ledger->sums, phase, next, &ledger->scratch);
	pthread_mutex_unlock(&ledger->lock);
	return next;
}

void ledger_publish(struct ledger *ledger, const struct ledger_answer *answer)
{
	struct prototype_table *old = ledger->table;
	float *preference;
	struct adaptive *shares;

	*ledger->spare = answer->table;
	ledger_save_table(ledger, ledger->spare);
	shares = learn_shares(ledger, ledger->spare);
	preference = learn_preference(ledger, ledger->spare);
	/* pair with rcu_dereference in ledger_drain, choose_group and group_weight_now */
	readers_announce(ledger->rules);
	rcu_assign_pointer(ledger->table, ledger->spare);
	rcu_assign_pointer(ledger->rules->adaptive, shares);
	rcu_assign_pointer(ledger->preference, preference);
	readers_wait(ledger->rules);
	ledger->spare = old;
	pthread_mutex_lock(&ledger->lock);
	ledger->burst_min_ns = answer->burst_min_ns;
	pthread_mutex_unlock(&ledger->lock);
	atomic_store_explicit(&ledger->rules->burst_min, clock_ticks((double)answer->burst_min_ns),
			memory_order_relaxed);
}

/* ---- the end ---- */

static void close_thread(struct ledger *ledger, struct thread *thread, struct totals *totals)
{
	struct account account;
	struct pending *place;
	uint32_t phase[PROTOTYPES_MAX];
	const struct totals_clock thread_clock = { clock_here.ns_per_tick,
		ledger->rules->passed_ticks, (double)clock_ticks((double)ledger->burst_min_ns) };

	/* waits for a drain under way; later drains find the ledger closed */
	thread_hold(thread);
	drain(ledger, thread);
	while ((place = pending_shift(&thread->pending))) {
		settle_last(ledger, thread, ledger->table, &place->burst);
		give_back(ledger, place);
	}
	close_quantum(ledger, thread);
	thread_let_go(thread);
	thread_account(thread, &account);
	for (uint32_t p = 0; p < ledger->table->count; p++)
		phase[p] = ledger->table->all[p].phase;
	totals_add(totals, &account, &thread->sites, phase, ledger->table->count, &thread_clock);
}

struct totals *ledger_close(struct ledger *ledger, struct thread *threads,
		struct ledger_piece pieces[LEDGER_PIECES])
{
	struct totals *totals = &ledger->totals;

	memset(totals, 0, sizeof(*totals));
	atomic_store_explicit(&ledger->closed, true, memory_order_relaxed);
	for (struct thread *thread = threads; thread; thread = thread->next)
		close_thread(ledger, thread, totals);
	totals->agent_bytes = (double)memory_of(ledger, threads);
	if (!pieces)
		return totals;
	/* side 1 of the spool stays as it is, so the ranks may add their sums in side 0 */
	pthread_mutex_lock(&ledger->lock);
	ledger->kept = true;
	pthread_mutex_unlock(&ledger->lock);
	pieces[0] = (struct ledger_piece){ (double *)totals, sizeof(*totals) / sizeof(double) };
	pieces[1].at = sums_flat(ledger->sums);
	pieces[1].length = sums_prototype_at(ledger->sums, ledger->table->count);
	pieces[2].at = sums_flat(ledger->sums) + sums_sketch_at(ledger->sums, 1);
	pieces[2].length = sums_sketch_at(ledger->sums, 1 + sums_sketched(ledger->table->phases)) -
			sums_sketch_at(ledger->sums, 1);
	return totals;
}

const struct prototype_table *ledger_table(const struct ledger *ledger)
{
	return ledger->table;
}

const struct profile *ledger_profile(const struct ledger *ledger)
{
	return ledger->profile;
}

const struct fold *ledger_fold(const struct ledger *ledger)
{
	return ledger->fold;
}

const struct sums *ledger_sums(const struct ledger *ledger)
{
	return ledger->sums;
}

uint64_t ledger_burst_min_ns(const struct ledger *ledger)
{
	return ledger->burst_min_ns;
}
