#include "agent/ledger.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/readers.h"
#include "sampling/clock.h"

/* How far apart different call paths are, where the range of each other metric is 1. */
#define CALLPATH_WEIGHT 1024

#define AHEAD_NS 2e9 /* a burst that has lasted so long is cut before it ends */

#define SAMPLE_CIRCLE  8    /* ranks that are sampled alike */
#define SAMPLE_THREADS 1024 /* numbers of a rank's threads */

struct ledger {
	/* read under RCU by drains; written by ledger_publish */
	struct prototype_table *table;
	/* the smallest key that the full sample turns away; read without the lock, as a first guess */
	_Atomic double sample_limit;

	/* constant */
	const struct counting *counting;
	struct thread_rules *rules;
	uint32_t rank, ranks;
	unsigned metrics;
	enum metric metric[SETTINGS_METRICS_MAX];
	bool burst_min_given;
	uint64_t burst_min_ns;
	size_t bytes;

	/* behind the lock */
	pthread_mutex_t lock;
	struct prototype_table *spare; /* becomes the table at the next publish */
	struct sums *sums;
	struct sample sample;
	struct profile profile;
	struct fold *fold; /* NULL: bursts are not sampled */
	struct burst_table *bursts; /* NULL unless asked for; set before any thread is there */
	struct adaptive adaptive[2]; /* the one that threads read, and the next */

	struct spool *spool; /* NULL: what is kept dies with the process */

	double *closed; /* what ledger_close returns */
};

/* ---- making it ---- */

/* What spans the space: what was asked for, or time alone where there are no instructions. */
static void choose_metrics(struct ledger *ledger, const struct settings *settings)
{
	if (ledger->counting->plan.common < 2) {
		ledger->metrics = 1;
		ledger->metric[0] = METRIC_DURATION;
		for (unsigned d = 0; d < settings->metrics; d++)
			if (settings->metric[d] == METRIC_CALLPATH)
				ledger->metric[ledger->metrics++] = METRIC_CALLPATH;
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
	ledger->burst_min_given = settings->burst_min_ns >= 0;
	ledger->burst_min_ns = ledger->burst_min_given ? (uint64_t)settings->burst_min_ns : 1000;
	atomic_store(&rules->burst_min, clock_ticks((double)ledger->burst_min_ns));
	ledger->table = new_table(ledger);
	ledger->spare = new_table(ledger);
	if (rules->sample_ns)
		ledger->fold = fold_new(&counting->plan);
	ledger->spool = spool;
	ledger->sums = spool ? sums_over(&counting->plan, PROTOTYPES_MAX, spool_sums(spool)) :
			       sums_new(&counting->plan, PROTOTYPES_MAX);
	if (!ledger->table || !ledger->spare || !ledger->sums)
		goto fail;
	ledger->closed = calloc(1, sizeof(struct totals) +
			sums_length(ledger->sums) * sizeof(double));
	if (!ledger->closed)
		goto fail;
	ledger->bytes = sizeof(*ledger) + 2 * sizeof(struct prototype_table) +
			(spool ? 1 : 2) * sums_length(ledger->sums) * sizeof(double) +
			sizeof(struct totals);
	return ledger;
fail:
	ledger_free(ledger);
	return NULL;
}

void ledger_free(struct ledger *ledger)
{
	if (!ledger)
		return;
	free(ledger->closed);
	fold_free(ledger->fold);
	sums_free(ledger->sums);
	free(ledger->spare);
	free(ledger->table);
	free(ledger);
}

size_t ledger_bytes(const struct ledger *ledger)
{
	return ledger->bytes + (ledger->spool ? spool_bytes(ledger->spool) : 0);
}

void ledger_record(struct ledger *ledger, struct burst_table *table)
{
	pthread_mutex_lock(&ledger->lock);
	ledger->bursts = table;
	pthread_mutex_unlock(&ledger->lock);
}

int ledger_admit(struct ledger *ledger, struct thread *thread)
{
	thread->gathered = quantum_new(ledger->sums);
	if (!thread->gathered)
		return -ENOMEM;
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
 * A number for the call paths that the burst runs between, in (0, 1), the same on every rank: paths
 * are equal or not, so theirs are numbers at random, and spread far beyond any radius.
 */
static double callpath(const struct site_table *sites, const struct burst *burst)
{
	const struct span *span = burst->slice ? NULL : &sites->span[burst->span];
	uint64_t from = sites->paths.path[sites->site[span ? span->from : burst->from].path].signature;
	/* slices are known before their burst ends */
	uint64_t to = span ? sites->paths.path[sites->site[span->to].path].signature : 0;
	uint64_t x = (from ^ (to << 1 | to >> 63)) * 0x9e3779b97f4a7c15u;

	/* bits that a float keeps, for that is what a sample holds */
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

/* The prototype that claims the burst, or -1. */
static int classify(const struct prototype_table *table, const double *metrics)
{
	float point[SPACE_DIMS_MAX];

	if (!table->count || !space_map(&table->space, metrics, point))
		return -1;
	return prototypes_nearest(table, point);
}

/* The finaliser of SplitMix64. */
static uint64_t mixed(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

/*
 * What the burst executes: the same for all ranks of a circle that come from the same calls equally
 * often. The more ranks there are, the more circles, or the sample would hold few executions. Where
 * samples cut a burst is chance, and no slice corresponds to another.
 */
static uint64_t execution_of(const struct ledger *ledger, const struct thread *thread,
		const struct burst *burst)
{
	const struct site_table *sites = &thread->sites;
	uint64_t circles = (ledger->ranks + SAMPLE_CIRCLE - 1) / SAMPLE_CIRCLE;
	const struct site *from;

	if (burst->slice)
		return mixed(mixed(burst->begin) + thread->place);
	from = &sites->site[sites->span[burst->span].from];
	return mixed(mixed(sites->paths.path[from->path].signature + from->call) +
		     mixed(burst->execution) + ledger->rank % circles);
}

static void offer(struct ledger *ledger, const struct thread *thread, const struct burst *burst,
		const double *metrics)
{
	struct sampled_burst sampled = { .execution = execution_of(ledger, thread, burst),
		.seconds = (float)burst_seconds(burst),
		.task = ledger->rank * SAMPLE_THREADS +
				(uint32_t)(thread->place - ledger->rank) % SAMPLE_THREADS };

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

/* Behind the lock. What the spool has of the thread's open quantum moves to the sums with it. */
static void fold_quantum(struct ledger *ledger, struct thread *thread)
{
	const uint16_t *prototypes;
	unsigned group, count = quantum_prototypes(thread->gathered, &prototypes, &group);

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
	fold_quantum(ledger, thread);
	pthread_mutex_unlock(&ledger->lock);
}

static void locate(struct ledger *ledger, unsigned prototype, uintptr_t address, unsigned samples)
{
	pthread_mutex_lock(&ledger->lock);
	profile_add(&ledger->profile, address, prototype, samples);
	pthread_mutex_unlock(&ledger->lock);
}

static void note(struct thread *thread, unsigned prototype, const struct burst *burst)
{
	if (burst->span == BURST_NO_SPAN)
		slicer_ahead(&thread->slicer, prototype, (double)burst->ticks);
	else
		span_note(&thread->sites.span[burst->span], prototype, burst->weight,
				(double)burst->ticks);
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
	quantum_add(thread->gathered, prototype, burst->group, burst->weight,
			burst_seconds(burst), burst->values);
	note(thread, prototype, burst);
	if (burst->samples)
		locate(ledger, prototype, burst->address, burst->samples);
}

/* Unclassified for good. */
static void give_up(struct thread *thread, const struct burst *burst)
{
	thread->given_up++;
	thread->given_up_ticks += burst->ticks;
	note(thread, TOTALS_UNCLASSIFIED, burst);
}

/* Keeps a burst that no prototype claims for the next generation; the oldest make room. */
static void wait_for_next_generation(struct thread *thread, const struct burst *burst)
{
	if (thread->pendings == THREAD_PENDING_MAX) {
		/* a quarter at a time, so that moving up costs little */
		unsigned leave = THREAD_PENDING_MAX / 4;

		for (unsigned i = 0; i < leave; i++)
			give_up(thread, &thread->pending[i]);
		thread->pendings -= leave;
		memmove(thread->pending, thread->pending + leave,
				thread->pendings * sizeof(*thread->pending));
	}
	thread->pending[thread->pendings++] = *burst;
}

/* Books what waited, as far as the new generation claims it. */
static void settle_pending(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < thread->pendings; i++) {
		const struct burst *burst = &thread->pending[i];
		double metrics[SPACE_DIMS_MAX];
		int prototype;

		burst_metrics(ledger, &thread->sites, burst, metrics);
		prototype = classify(table, metrics);
		if (prototype < 0)
			thread->pending[kept++] = *burst;
		else
			book(ledger, thread, table, (unsigned)prototype, burst);
	}
	thread->pendings = kept;
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

/* The prototype that claims the burst, or -1: it is the last of the pending ones. */
static int drain_burst(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst)
{
	double metrics[SPACE_DIMS_MAX];
	int prototype;

	record(ledger, thread, burst);
	burst_metrics(ledger, &thread->sites, burst, metrics);
	offer(ledger, thread, burst, metrics);
	prototype = classify(table, metrics);
	if (prototype < 0)
		wait_for_next_generation(thread, burst);
	else
		book(ledger, thread, table, (unsigned)prototype, burst);
	return prototype;
}

/*
 * Which quantum a slice belongs to: to one of its own kind, for in a long burst the group may change
 * and change back, and may stay for much longer than a quantum.
 */
static uint64_t quantum_of(const struct ledger *ledger, struct slicer *slicer,
		const struct burst *burst, const struct burst *slice)
{
	const struct thread_rules *rules = ledger->rules;
	bool over = rules->quantum_bursts ?
				    ++slicer->unit_slices > rules->quantum_bursts :
				    slice->begin - slicer->unit_begin > rules->quantum_ticks;

	/* where the group never changes, all of a thread's bursts are one unit drawn */
	if (rules->scheme.kind == SCHEME_SPACE)
		return burst->quantum;
	if (over || slice->group != slicer->unit_group || slicer->slices == 1) {
		slicer->unit++;
		slicer->unit_begin = slice->begin;
		slicer->unit_slices = 1;
		slicer->unit_group = slice->group;
	}
	return UINT64_C(1) << 63 | slicer->unit;
}

/* Where in its burst a slice fell, and what it counted. */
static void fold_into(struct ledger *ledger, unsigned prototype, const struct burst *burst,
		const struct burst *slice)
{
	double middle = (double)(slice->begin - burst->begin) + (double)slice->ticks / 2;

	if (!ledger->fold)
		return;
	pthread_mutex_lock(&ledger->lock);
	fold_slice(ledger->fold, prototype, slice->group, middle / (double)burst->ticks,
			(double)slice->ticks, slice->values);
	pthread_mutex_unlock(&ledger->lock);
}

static uint64_t drain_slices(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst, uint64_t end,
		uint64_t head)
{
	struct slicer *slicer = &thread->slicer;
	struct burst slice;
	uint64_t ticks = 0;
	int prototype;

	while (slicer_cut(slicer, burst, end, head, ledger->rules->counts, &slice)) {
		slice.quantum = quantum_of(ledger, slicer, burst, &slice);
		ticks += slice.ticks;
		prototype = drain_burst(ledger, thread, table, &slice);
		/* where in the burst it is, is known when the burst has ended */
		if (prototype >= 0 && burst->ticks)
			fold_into(ledger, (unsigned)prototype, burst, &slice);
	}
	return ticks;
}

/* What was taken ahead of a burst belongs to this span. */
static void settle_ahead(struct thread *thread, struct span *span, uint32_t number)
{
	struct slices_ahead *ahead = &thread->slicer.ahead;

	for (unsigned p = 0; p <= PROTOTYPES_MAX; p++)
		if (ahead->count[p] > 0)
			span_note_slices(span, p, (uint32_t)ahead->count[p], (double)ahead->ticks[p]);
	memset(ahead, 0, sizeof(*ahead));
	for (unsigned i = 0; i < thread->pendings; i++)
		if (thread->pending[i].span == BURST_NO_SPAN)
			thread->pending[i].span = number;
}

/* A sample within a burst of this prototype: where the program was, and what it had counted. */
static void book_sample(struct ledger *ledger, unsigned prototype, const struct burst *burst,
		const struct overflow_sample *sample, uint64_t at)
{
	unsigned count = ledger->rules->counts[burst->group];
	double place = (double)(at - burst->begin) / (double)burst->ticks;
	uint64_t until[GROUP_EVENTS_MAX];
	bool known = sample->count >= count &&
		     group_delta(burst->first, sample->values, count, until);

	/* cycles, or the time on a processor: a thread that waits for one does not go on */
	if (known && ledger->counting->plan.common && burst->values[0])
		place = (double)until[0] / (double)burst->values[0];
	pthread_mutex_lock(&ledger->lock);
	profile_add(&ledger->profile, sample->address, prototype, 1);
	if (ledger->fold && known)
		fold_sample(ledger->fold, prototype, burst->group, place, until, burst->values);
	pthread_mutex_unlock(&ledger->lock);
}

/* A burst that is too short to be cut, and where in it the program was sampled, if it was. */
static void drain_whole(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst)
{
	struct slicer *slicer = &thread->slicer;
	struct overflow_sample sample[2 * SLICES_MIN];
	uint64_t head, at[2 * SLICES_MIN];
	unsigned samples = 0;
	int prototype;

	if (slicer_pending(slicer)) {
		head = slicer_look(slicer);
		while (samples < 2 * SLICES_MIN && slicer_sample(slicer, burst->begin,
				burst->begin + burst->ticks, head, &sample[samples], &at[samples]))
			samples++;
	}
	prototype = drain_burst(ledger, thread, table, burst);
	for (unsigned i = 0; i < samples && prototype >= 0; i++)
		book_sample(ledger, (unsigned)prototype, burst, &sample[i], at[i]);
	/* while it waits there is room for one place: any of them, for all */
	if (samples && prototype < 0) {
		struct burst *pending = &thread->pending[thread->pendings - 1];

		pending->samples = (uint16_t)samples;
		pending->address = sample[mixed(burst->begin) % samples].address;
	}
}

/* A long burst: in slices, where there are samples of it. */
static void drain_long(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst, uint64_t head)
{
	struct span *span = &thread->sites.span[burst->span];
	uint64_t left, left_ticks;

	if (!burst->mixed &&
			!slicer_wants(&thread->slicer, burst->begin, burst->begin + burst->ticks, head)) {
		drain_whole(ledger, thread, table, burst);
		return;
	}
	drain_slices(ledger, thread, table, burst, burst->begin + burst->ticks, head);
	if (slicer_end(&thread->slicer, burst, &left, &left_ticks)) {
		span->left += (double)left;
		span->left_ticks += (double)left_ticks;
	} else if (burst->mixed) {
		span->left++;
		span->left_ticks += (double)burst->ticks;
	} else {
		drain_burst(ledger, thread, table, burst);
	}
	settle_ahead(thread, span, burst->span);
}

/* Slices say more when their burst has ended, so they stay in the kernel's ring for a while. */
static bool can_wait(const struct slicer *slicer, uint64_t since)
{
	const struct overflow *overflow = &slicer->overflow;

	return clock_ns(clock_now() - since) < AHEAD_NS &&
	       overflow_head(overflow) - overflow->tail < overflow->bytes / 2;
}

/* The burst under way, as far as it has samples. Called when all that came before it is drained. */
static void drain_under_way(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table)
{
	const struct open_burst *open = &thread->under_way;
	struct slicer *slicer = &thread->slicer;
	/* pair with the releases in publish and thread_read_end: see struct open_burst */
	uint64_t since = atomic_load_explicit(&open->since, memory_order_acquire), head, ticks;
	struct burst burst = { .begin = since, .span = BURST_NO_SPAN };
	uint64_t slices = slicer->since == since ? slicer->slices : 0;

	if (!slicer_pending(slicer))
		return;
	if (!since) {
		/* of a burst that ends just now, later ones may be needed */
		slicer_drop(slicer, clock_now() - THREAD_SAMPLES / 4 * ledger->rules->sample_ticks);
		return;
	}
	if (!ledger->rules->long_ticks || clock_now() - since < ledger->rules->long_ticks ||
			can_wait(slicer, since))
		return;
	burst.quantum = atomic_load_explicit(&open->quantum, memory_order_acquire);
	burst.group = (uint16_t)atomic_load_explicit(&open->group, memory_order_acquire);
	burst.from = (uint16_t)atomic_load_explicit(&open->from, memory_order_acquire);
	burst.weight = atomic_load_explicit(&open->weight, memory_order_acquire);
	head = slicer_look(slicer);
	if (atomic_load_explicit(&open->since, memory_order_acquire) != since ||
			!slicer_wants(slicer, since, slicer->now_ticks, head))
		return;
	ticks = drain_slices(ledger, thread, table, &burst, UINT64_MAX, head);
	site_add(&slicer->ahead_ticks, ticks);
	if (slicer->since == since)
		site_add(&slicer->ahead_bursts, slicer->slices - slices);
}

void ledger_drain(struct ledger *ledger, struct thread *thread)
{
	const struct prototype_table *table;
	const struct burst *burst;

	/* pairs with the release below: the last drainer's records are released, its sums written */
	if (atomic_flag_test_and_set_explicit(&thread->draining, memory_order_acquire))
		return;
	readers_enter(ledger->rules);
	table = rcu_dereference(ledger->table);
	if (thread->settled != table->generation)
		settle_pending(ledger, thread, table);
	while ((burst = ring_peek(&thread->ring))) {
		if (burst->is_long)
			drain_long(ledger, thread, table, burst, slicer_look(&thread->slicer));
		else
			drain_whole(ledger, thread, table, burst);
		ring_release(&thread->ring);
	}
	drain_under_way(ledger, thread, table);
	readers_leave(ledger->rules);
	atomic_flag_clear_explicit(&thread->draining, memory_order_release);
}

/* ---- what outlives the process ---- */

static void save_sites(const struct site_table *sites, struct spool_thread *to)
{
	for (; to->paths < sites->paths.count; to->paths++) {
		const struct path *path = &sites->paths.path[to->paths];
		struct spool_path *copy = &to->path[to->paths];

		copy->frames = path->frames;
		for (unsigned i = 0; i < path->frames; i++)
			copy->address[i] = path->address[i];
	}
	for (unsigned i = 0; i < SITES_MAX; i++)
		to->site_path[i] = sites->site[i].used ? sites->site[i].path : SPOOL_NO_PATH;
	to->spans = 0;
	for (unsigned i = 0; i < SPANS_MAX; i++) {
		const struct span *span = &sites->span[i];
		struct spool_span *copy = &to->span[to->spans];

		if (!span->used)
			continue;
		to->spans++;
		copy->from = span->from;
		copy->to = span->to;
		copy->unread = span->left + (double)atomic_load_explicit(
				&span->unread, memory_order_relaxed);
		copy->unread_ticks = span->left_ticks + (double)atomic_load_explicit(
				&span->unread_ticks, memory_order_relaxed);
		for (unsigned k = 0; k < SPAN_SHARES_MAX; k++) {
			copy->prototype[k] = (uint16_t)span->share[k].prototype;
			copy->share_read[k] = (float)span->share[k].read;
			copy->share_ticks[k] = (float)span->share[k].ticks;
			copy->share_unread[k] = (float)span->share[k].unread;
			copy->share_unread_ticks[k] = (float)span->share[k].unread_ticks;
		}
	}
}

static void save_open(struct ledger *ledger, struct thread *thread, struct spool_thread *to)
{
	const uint16_t *prototypes;
	unsigned group, count = quantum_prototypes(thread->gathered, &prototypes, &group);

	/* a quantum of so many prototypes is cut in two: its bursts all count, it counts twice */
	if (count > SPOOL_OPEN_MAX) {
		fold_quantum(ledger, thread);
		count = 0;
	}
	to->open = count;
	to->open_group = group;
	for (unsigned i = 0; i < count; i++) {
		to->open_prototype[i] = prototypes[i];
		quantum_save(thread->gathered, prototypes[i], to->open_fields[i]);
	}
}

void ledger_checkpoint(struct ledger *ledger, struct thread *thread, uint64_t now, bool quiet)
{
	struct spool_thread *to;

	/* pairs with the release below and in ledger_drain */
	if (!ledger->spool || atomic_flag_test_and_set_explicit(
					&thread->draining, memory_order_acquire))
		return;
	pthread_mutex_lock(&ledger->lock);
	if (thread->spooled >= 0) {
		to = spool_thread(ledger->spool, thread->spooled);
		thread_account(thread, &to->account);
		/* what no prototype claims yet would be unclassified for good */
		for (unsigned i = 0; i < thread->pendings; i++) {
			to->account.unclassified_bursts++;
			to->account.unclassified_ticks += (double)thread->pending[i].ticks;
		}
		if (quiet)
			save_sites(&thread->sites, to);
		save_open(ledger, thread, to);
		spool_touch_thread(ledger->spool, thread->spooled);
	}
	spool_side(ledger->spool)->now = now;
	spool_side(ledger->spool)->burst_min_ns = ledger->burst_min_ns;
	spool_commit(ledger->spool);
	pthread_mutex_unlock(&ledger->lock);
	atomic_flag_clear_explicit(&thread->draining, memory_order_release);
}

/* Before the first burst can go to a prototype that is new. */
static void save_table(struct ledger *ledger, const struct prototype_table *table)
{
	struct spool_side *side;

	if (!ledger->spool)
		return;
	pthread_mutex_lock(&ledger->lock);
	side = spool_side(ledger->spool);
	side->rounds++;
	side->generation = table->generation;
	side->prototypes = table->count;
	side->phases = table->phases;
	for (uint32_t p = 0; p < table->count; p++)
		side->phase[p] = table->all[p].phase;
	pthread_mutex_unlock(&ledger->lock);
}

/* ---- rounds ---- */

void ledger_part(struct ledger *ledger, const struct thread *threads, struct ledger_part *part)
{
	memset(part->seconds_by_length, 0, sizeof(part->seconds_by_length));
	for (const struct thread *thread = threads; thread; thread = thread->next)
		for (unsigned bin = 0; bin < HISTOGRAM_BINS; bin++) {
			uint64_t ticks = atomic_load_explicit(
					&thread->counts.histogram[bin], memory_order_relaxed);
			/* clocks differ between machines: the bins of a round are nanoseconds */
			double length = clock_ns(histogram_floor(bin));

			if (ticks)
				part->seconds_by_length[histogram_bin((uint64_t)length)] +=
						clock_ns(ticks) * 1e-9;
		}
	pthread_mutex_lock(&ledger->lock);
	part->sample = ledger->sample;
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

void ledger_train(struct ledger *ledger, const struct ledger_part *all, struct ledger_answer *answer)
{
	uint32_t count = all->sample.count;
	struct training_sample training = { .count = 0 };
	double *metrics = malloc((count + 1) * ledger->metrics * sizeof(*metrics));
	double *seconds = malloc((count + 1) * sizeof(*seconds));
	uint32_t *task = malloc((count + 1) * sizeof(*task));
	uint64_t *execution = malloc((count + 1) * sizeof(*execution));

	answer->burst_min_ns = ledger->burst_min_given ?
					       ledger->burst_min_ns :
					       histogram_keep(all->seconds_by_length, 0.99);
	answer->table = *ledger->table;
	if (!metrics || !seconds || !task || !execution)
		goto out;
	for (uint32_t i = 0; i < count; i++) {
		const struct sampled_burst *burst = &all->sample.burst[i];
		size_t at = training.count;

		if (burst->seconds * 1e9 < (double)answer->burst_min_ns)
			continue;
		for (unsigned d = 0; d < ledger->metrics; d++)
			metrics[at * ledger->metrics + d] = burst->metric[d];
		seconds[at] = burst->seconds;
		task[at] = burst->task;
		execution[at] = burst->execution;
		training.count++;
	}
	training.metrics = metrics;
	training.duration = seconds;
	training.task = task;
	training.execution = execution;
	/* on an error the answer is the table as it was */
	if (training.count)
		prototypes_train(&training, ledger->table, &answer->table);
out:
	free(metrics);
	free(seconds);
	free(task);
	free(execution);
}

/* What the sums say of which groups are worth more quanta, for the scheme that asks for it. */
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
		adaptive_init(next, rules->scheme.groups, rules->scheme.seed);
	for (uint32_t p = 0; p < table->count; p++)
		phase[p] = table->all[p].phase;
	pthread_mutex_lock(&ledger->lock);
	adaptive_learn(next, ledger->sums, phase);
	pthread_mutex_unlock(&ledger->lock);
	return next;
}

void ledger_publish(struct ledger *ledger, const struct ledger_answer *answer)
{
	struct prototype_table *old = ledger->table;
	struct adaptive *shares;

	*ledger->spare = answer->table;
	save_table(ledger, ledger->spare);
	shares = learn_shares(ledger, ledger->spare);
	/* pair with rcu_dereference in ledger_drain and choose_group: publish what they point to */
	readers_announce(ledger->rules);
	rcu_assign_pointer(ledger->table, ledger->spare);
	rcu_assign_pointer(ledger->rules->adaptive, shares);
	readers_wait(ledger->rules);
	ledger->spare = old;
	ledger->burst_min_ns = answer->burst_min_ns;
	atomic_store_explicit(&ledger->rules->burst_min, clock_ticks((double)answer->burst_min_ns),
			memory_order_relaxed);
}

/* ---- the end ---- */

static void close_thread(struct ledger *ledger, struct thread *thread, struct totals *totals)
{
	struct account account;

	ledger_drain(ledger, thread);
	for (unsigned i = 0; i < thread->pendings; i++)
		give_up(thread, &thread->pending[i]);
	thread->pendings = 0;
	close_quantum(ledger, thread);
	thread_account(thread, &account);
	totals_add(totals, &account, &thread->sites, clock_here.ns_per_tick);
	totals->agent_bytes += (double)(thread_bytes() + thread->slicer.overflow.bytes);
}

double *ledger_close(struct ledger *ledger, struct thread *threads, size_t *length)
{
	struct totals *totals = (struct totals *)ledger->closed;
	size_t totals_length = sizeof(*totals) / sizeof(double);

	memset(totals, 0, sizeof(*totals));
	for (struct thread *thread = threads; thread; thread = thread->next)
		close_thread(ledger, thread, totals);
	totals->agent_bytes += (double)ledger_bytes(ledger);
	memcpy(ledger->closed + totals_length, sums_flat(ledger->sums),
			sums_length(ledger->sums) * sizeof(double));
	*length = totals_length + sums_length(ledger->sums);
	return ledger->closed;
}

const struct prototype_table *ledger_table(const struct ledger *ledger)
{
	return ledger->table;
}

const struct profile *ledger_profile(const struct ledger *ledger)
{
	return &ledger->profile;
}

const struct fold *ledger_fold(const struct ledger *ledger)
{
	return ledger->fold;
}

const struct sums *ledger_sums(const struct ledger *ledger)
{
	memcpy(sums_flat(ledger->sums),
			ledger->closed + sizeof(struct totals) / sizeof(double),
			sums_length(ledger->sums) * sizeof(double));
	return ledger->sums;
}

uint64_t ledger_burst_min_ns(const struct ledger *ledger)
{
	return ledger->burst_min_ns;
}

enum metric ledger_metric(const struct ledger *ledger, unsigned index, unsigned *count)
{
	*count = ledger->metrics;
	return ledger->metric[index];
}
