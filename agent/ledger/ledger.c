/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ledger/ledger.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/memory.h"
#include "agent/host/rcu.h"
#include "agent/ledger/book.h"
#include "agent/ledger/ledger_state.h"
#include "agent/ledger/slices_drain.h"
#include "sampling/clock.h"

/* Range of the numbers of call paths in the space, in which the range of each other metric is 1. */
#define CALLPATH_WEIGHT 1024

/*
 * Length from which a burst is placed by its span and length, even if it was short when it ended. Looking both
 * up takes some 10 ns, a thousandth of this length.
 */
#define PLACED_NS 10e3

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
	ledger->start = clock_now();
	ledger->sample_limit = INFINITY;
	pthread_mutex_init(&ledger->lock, NULL);
	choose_metrics(ledger, settings);
	ledger->budget = settings->budget;
	ledger->has_leads = settings->leads != SETTINGS_LEADS_ALL && ranks > 1;
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
	ledger->own_bins = spool ? NULL : calloc(TIMELINE_BINS, sizeof(*ledger->own_bins));
	timeline_init(&ledger->timeline, spool ? spool_bins(spool) : ledger->own_bins,
			TIMELINE_BINS, rules->start, rules->bin_ticks);
	ledger->sums = spool ? sums_over(&counting->plan, PROTOTYPES_MAX, spool_sums(spool)) :
			       sums_new(&counting->plan, PROTOTYPES_MAX);
	if (!ledger->table || !ledger->spare || !ledger->sums || !ledger->profile ||
			!ledger->timeline.bin)
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
	free(ledger->own_bins);
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

void ledger_record(struct ledger *ledger, struct burst_csv *table)
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
	thread->drain.gathered = quantum_init(memory, ledger->sums);
	thread->drain.gathered_bytes = quantum_bytes(ledger->sums);
	thread->drain.spooled = -ENOENT;
	timeline_init(&thread->timeline, thread->bin, THREAD_BINS, ledger->rules->start,
			ledger->rules->bin_ticks);
	timeline_init(&thread->drain.timeline, thread->drain_bin, THREAD_BINS, ledger->rules->start,
			ledger->rules->bin_ticks);
	if (ledger->spool) {
		pthread_mutex_lock(&ledger->lock);
		thread->drain.spooled = spool_admit(ledger->spool);
		pthread_mutex_unlock(&ledger->lock);
	}
	return 0;
}

/* Empties the thread's ring. Caller holds the thread's `drain.busy`. */
static void drain(struct ledger *ledger, struct thread *thread)
{
	const struct prototype_table *table;
	const struct burst *burst;

	rcu_enter(ledger->rules);
	table = rcu_dereference(ledger->table);
	if (thread->drain.settled != table->generation) {
		book_settle_pending(ledger, thread, table);
		site_prefer(&thread->sites, thread->drain.noted,
				rcu_dereference(ledger->preference));
	}
	while ((burst = ring_peek(&thread->ring))) {
		if (burst->unread)
			ledger_drain_unread(ledger, thread, table, burst);
		else if (burst->is_long)
			ledger_drain_long(ledger, thread, table, burst,
					slicer_look(&thread->drain.slicer));
		else
			ledger_drain_whole(ledger, thread, table, burst);
		ring_release(&thread->ring);
	}
	ledger_drain_under_way(ledger, thread, table);
	rcu_leave(ledger->rules);
}

void ledger_drain(struct ledger *ledger, struct thread *thread)
{
	/* pairs with the release below: the previous drain has released its records and written its sums */
	if (atomic_flag_test_and_set_explicit(&thread->drain.busy, memory_order_acquire))
		return;
	if (!atomic_load_explicit(&ledger->closed, memory_order_relaxed))
		drain(ledger, thread);
	atomic_flag_clear_explicit(&thread->drain.busy, memory_order_release);
}

static void phases_of(const struct prototype_table *table, uint32_t phase[PROTOTYPES_MAX])
{
	for (uint32_t p = 0; p < table->count; p++)
		phase[p] = table->all[p].phase;
}

/* Adds the last of a thread's timelines to that of the process. */
static void pour_all(struct ledger *ledger, struct thread *thread)
{
	pthread_mutex_lock(&ledger->lock);
	book_pour(ledger, &thread->timeline, clock_now());
	book_pour(ledger, &thread->drain.timeline, clock_now());
	pthread_mutex_unlock(&ledger->lock);
}

static void close_thread(struct ledger *ledger, struct thread *thread, struct totals *totals)
{
	struct account account;
	uint32_t phase[PROTOTYPES_MAX];
	const struct totals_clock thread_clock = { clock_here.ns_per_tick,
		ledger->rules->skip_ticks, (double)clock_ticks((double)ledger->burst_min_ns) };

	/* waits for a drain under way; later drains find the ledger closed */
	thread_hold(thread);
	drain(ledger, thread);
	book_settle_last(ledger, thread);
	book_close_quantum(ledger, thread);
	pour_all(ledger, thread);
	thread_let_go(thread);
	thread_account(thread, &account);
	phases_of(ledger->table, phase);
	totals_add(totals, &account, &thread->sites, phase, ledger->table->count, &thread_clock);
}

struct totals *ledger_close(struct ledger *ledger, struct thread *threads,
		struct ledger_piece pieces[LEDGER_PIECES])
{
	struct totals *totals = &ledger->totals;
	uint32_t phase[PROTOTYPES_MAX];

	memset(totals, 0, sizeof(*totals));
	atomic_store_explicit(&ledger->closed, true, memory_order_relaxed);
	for (struct thread *thread = threads; thread; thread = thread->next)
		close_thread(ledger, thread, totals);
	totals->agent_bytes = (double)memory_of(ledger, threads);
	if (!pieces)
		return totals;
	if (ledger->has_leads) {
		phases_of(ledger->table, phase);
		unread_stand_for(&totals->unread, phase, ledger->table->count, ledger->sums);
	}
	/* side 1 of the spool stays as it is, so the ranks may add their sums in side 0 */
	pthread_mutex_lock(&ledger->lock);
	ledger->kept = true;
	pthread_mutex_unlock(&ledger->lock);
	pieces[0] = (struct ledger_piece){ (double *)totals, sizeof(*totals) / sizeof(double) };
	pieces[1].values = sums_flat(ledger->sums);
	pieces[1].length = sums_prototype_at(ledger->sums, ledger->table->count);
	pieces[2].values = sums_flat(ledger->sums) + sums_sketch_at(ledger->sums, 1);
	pieces[2].length = sums_sketch_at(ledger->sums, 1 + sums_sketched(ledger->table->phases)) -
			sums_sketch_at(ledger->sums, 1);
	return totals;
}

const struct prototype_table *ledger_table(const struct ledger *ledger)
{
	return ledger->table;
}

bool ledger_has_read(struct ledger *ledger, uint32_t phase)
{
	bool member[PROTOTYPES_MAX], all;

	pthread_mutex_lock(&ledger->lock);
	for (uint32_t p = 0; p < PROTOTYPES_MAX; p++)
		member[p] = p < ledger->table->count && ledger->table->all[p].phase == phase;
	all = sums_have_all_groups(ledger->sums, member);
	pthread_mutex_unlock(&ledger->lock);
	return all;
}

const struct timeline *ledger_timeline(const struct ledger *ledger)
{
	return &ledger->timeline;
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

const enum metric *ledger_metrics(const struct ledger *ledger, unsigned *count)
{
	*count = ledger->metrics;
	return ledger->metric;
}

uint64_t ledger_burst_min_ns(const struct ledger *ledger)
{
	return ledger->burst_min_ns;
}
