/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/recovery.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/recovery_state.h"
#include "multiplex/estimate/layout.h"

struct recovery *recovery_new(void)
{
	return calloc(1, sizeof(struct recovery));
}

void recovery_free(struct recovery *recovery)
{
	if (!recovery)
		return;
	sums_free(recovery->sums);
	use_list_fini(&recovery->uses);
	timeline_list_fini(&recovery->timelines);
	free(recovery->found);
	free(recovery->structures);
	free(recovery->scratch);
	free(recovery->arguments);
	free(recovery->arguments_scratch);
	free(recovery);
}

static int begin_run(struct recovery *recovery, const struct spool_facts *facts)
{
	recovery->found = calloc((size_t)facts->size / 8 + 1, 1);
	recovery->sums = sums_new(&facts->plan, PROTOTYPES_MAX);
	if (!recovery->found || !recovery->sums) {
		free(recovery->found);
		sums_free(recovery->sums);
		recovery->found = NULL;
		recovery->sums = NULL;
		return -ENOMEM;
	}
	recovery->facts = *facts;
	for (unsigned i = 0; i < RANK_TIMES_MAX; i++)
		recovery->times.place[i] = (struct rank_time){ NAN, NAN };
	return 0;
}

/* Returns 0 if the process can be added, else -EXDEV or -EINVAL. */
static int compare(const struct recovery *recovery, const struct spool_facts *facts, char *why,
		size_t why_size)
{
	const struct spool_facts *first = &recovery->facts;
	bool same = facts->size == first->size &&
			memcmp(&facts->plan, &first->plan, sizeof(facts->plan)) == 0 &&
			strcmp(facts->model, first->model) == 0 &&
			facts->hardware == first->hardware;

	if (facts->run != first->run)
		return -EXDEV;
	for (unsigned e = 0; same && e < facts->plan.events; e++)
		same = strcmp(facts->event[e], first->event[e]) == 0 &&
				facts->model_event[e] == first->model_event[e];
	if (!same) {
		snprintf(why, why_size, "counted something else than rank %d", first->rank);
		return -EINVAL;
	}
	if (recovery_has(recovery, facts->rank)) {
		snprintf(why, why_size, "rank %d is there already", facts->rank);
		return -EINVAL;
	}
	return 0;
}

static void restore_length(const struct spool_length *saved, struct span_length *length)
{
	atomic_store(&length->unread, (uint64_t)saved->unread);
	atomic_store(&length->unread_ticks, (uint64_t)saved->unread_ticks);
	atomic_store(&length->variance, saved->variance);
	atomic_store(&length->ticks_variance, saved->ticks_variance);
	length->cut = saved->cut;
	for (unsigned k = 0; k < SPAN_SHARES_MAX && saved->share_read[k] > 0; k++) {
		length->share[k].prototype = saved->prototype[k];
		length->share[k].read = (uint32_t)fminf(saved->share_read[k], 0x1p31f);
		length->share[k].mean_ticks = saved->mean_ticks[k];
		length->share[k].mean_unread = saved->mean_unread[k];
	}
}

static void restore_sites(const struct spool_thread *from, struct site_table *sites)
{
	memset(sites, 0, sizeof(*sites));
	sites->paths.count = from->paths;
	for (uint32_t i = 0; i < from->paths; i++) {
		struct path *path = &sites->paths.path[i];

		path->frames = (uint16_t)from->path[i].frames;
		for (unsigned k = 0; k < path->frames; k++)
			path->address[k] = (uintptr_t)from->path[i].address[k];
	}
	sites->sites = from->sites ? from->sites - 1 : 0;
	for (uint32_t i = 0; i < from->sites; i++) {
		sites->site[i].path = from->site[i].path;
		sites->site[i].call = from->site[i].call;
	}
	sites->lengths = from->lengths ? from->lengths - 1 : 0;
	for (uint32_t i = 0; i < from->lengths; i++)
		restore_length(&from->length[i], &sites->length[i]);
	sites->spans = from->spans ? from->spans - 1 : 0;
	for (uint32_t i = 0; i < from->spans; i++) {
		const struct spool_span *saved = &from->span[i];
		struct span *span = &sites->span[i];

		/* number 0 is for all spans without room */
		span->used = i > 0 || saved->lengths > 0;
		span->from = saved->from;
		span->to = saved->to;
		span->lengths = (uint8_t)saved->lengths;
		memcpy(span->bin, saved->bin, sizeof(span->bin));
		for (unsigned l = 0; l < span->lengths; l++)
			atomic_store(&span->length[l], saved->length[l]);
	}
}

/* Adds the quantum that was under way to the sums. */
static int close_open(struct recovery *recovery, const struct spool_image *image,
		const struct spool_thread *thread)
{
	struct quantum *quantum = quantum_new(recovery->sums);

	if (!quantum)
		return -ENOMEM;
	for (uint32_t p = 0; p < image->side.prototypes; p++)
		quantum_label(quantum, p, image->side.phase[p]);
	for (uint32_t i = 0; i < thread->open; i++)
		quantum_restore(quantum, thread->open_prototype[i], thread->open_group,
				thread->open_weight, thread->open_fields[i]);
	quantum_close(quantum, recovery->sums);
	quantum_free(quantum);
	return 0;
}

/* Adds the arguments of the process' calls, if there are any. Returns 0 or -ENOMEM. */
static int add_arguments(struct recovery *recovery, const struct spool_image *image,
		const struct structures_thread *thread)
{
	if (!image->arguments)
		return 0;
	if (!recovery->arguments)
		recovery->arguments = calloc(1, sizeof(*recovery->arguments));
	if (!recovery->arguments_scratch)
		recovery->arguments_scratch = malloc(sizeof(*recovery->arguments_scratch));
	if (!recovery->arguments || !recovery->arguments_scratch)
		return -ENOMEM;
	memset(recovery->arguments_scratch, 0, sizeof(*recovery->arguments_scratch));
	argument_table_share(thread, image->arguments, image->side.arguments,
			&recovery->profile.files, recovery->arguments_scratch);
	argument_table_merge(recovery->arguments_scratch, recovery->arguments);
	recovery->argued++;
	return 0;
}

/* Adds the structure of the process' calls, which refers to the sites of one of its threads. */
static int add_structure(struct recovery *recovery, const struct spool_image *image,
		const struct site_table *sites)
{
	const struct spool_facts *facts = &image->facts;
	const struct structures_thread thread = { image->structure, sites, facts->ns_per_tick,
		(uint32_t)facts->rank, facts->module, facts->modules, image->side.recurrence };

	if (!recovery->structures)
		recovery->structures = calloc(1, sizeof(*recovery->structures));
	if (!recovery->scratch)
		recovery->scratch = malloc(sizeof(*recovery->scratch));
	if (!recovery->structures || !recovery->scratch)
		return -ENOMEM;
	memset(recovery->scratch, 0, sizeof(*recovery->scratch));
	structures_share(&thread, &recovery->profile.files, recovery->scratch);
	structures_merge(recovery->scratch, recovery->structures);
	recovery->structured++;
	if (image->iterations && iteration_sample_is_of(image->iterations, image->structure))
		recovery->iterations =
				rank_iterations_new(image->iterations, sites, facts->ns_per_tick);
	return add_arguments(recovery, image, &thread);
}

static int add_thread(struct recovery *recovery, const struct spool_image *image,
		const struct spool_thread *thread, struct site_table *sites)
{
	const struct spool_facts *facts = &image->facts;
	const struct account *account = &thread->account;
	const struct totals_clock clock = { facts->ns_per_tick, facts->skip_ticks,
		(double)image->side.burst_min_ns / facts->ns_per_tick };

	restore_sites(thread, sites);
	totals_add(&recovery->totals, account, sites, image->side.phase, image->side.prototypes,
			&clock);
	routes_share(sites, facts->ns_per_tick, facts->module, facts->modules,
			&recovery->profile.files, &recovery->profile.routes);
	if (image->structure && thread == &image->thread[image->side.structure - 1]) {
		int error = add_structure(recovery, image, sites);

		if (error)
			return error;
	}
	return close_open(recovery, image, thread);
}

static void take_table(struct recovery *recovery, const struct spool_side *side)
{
	struct prototype_table *table = &recovery->table;

	if (recovery->count && side->generation <= table->generation)
		return;
	table->generation = side->generation;
	table->count = side->prototypes;
	table->phases = side->phases;
	for (uint32_t p = 0; p < side->prototypes; p++)
		table->all[p].phase = side->phase[p];
	recovery->burst_min_ns = side->burst_min_ns;
}

/* Sets `use` to what all processes that were added did in the first `prototypes` prototypes. */
static void use_of_all(const struct recovery *recovery, unsigned prototypes, struct rank_use *use)
{
	rank_use_of(use, prototypes, recovery->sums, &recovery->totals.unread);
}

/* A process that is being added, with the sums over its threads. */
struct process {
	const struct spool_image *image;
	double compute, threads; /* seconds of bursts; number of threads in the mean of the run */
};

/* Keeps the timeline of a process. */
static int keep_timeline(struct recovery *recovery, const struct process *process,
		const struct rank_use *use)
{
	const struct spool_image *image = process->image;
	double seconds[PROTOTYPES_MAX];
	struct timeline_of_process of = { .ns_per_tick = image->facts.ns_per_tick,
		.threads = process->threads,
		.compute = process->compute,
		.rank = (uint32_t)image->facts.rank,
		.prototypes = image->side.prototypes,
		.seconds = seconds };

	rank_use_seconds(use, seconds);
	of.timeline.used = image->side.bins;
	of.timeline.width = image->side.bin_ticks;
	of.timeline.bin = (struct timeline_bin *)image->bin;
	return timeline_list_add(&recovery->timelines, &of);
}

/* Keeps what a process did. before: what those that were added before it did. hertz: its cycles per second, or NAN. */
static int keep_use(struct recovery *recovery, const struct process *process,
		const struct rank_use *before, double *hertz)
{
	unsigned prototypes = process->image->side.prototypes;
	uint32_t rank = (uint32_t)process->image->facts.rank;
	struct rank_use use;

	use_of_all(recovery, prototypes, &use);
	rank_use_subtract(&use, before);
	if (process->image->facts.hardware)
		*hertz = hosts_cycles_per_second(&use);
	use.iterations = recovery->iterations;
	if (use_list_add(&recovery->uses, rank, &use, prototypes))
		return -ENOMEM;
	return keep_timeline(recovery, process, &use);
}

static void add_doubles(void *into, const void *from, size_t count)
{
	double *to = into;
	const double *add = from;

	for (size_t i = 0; i < count; i++)
		to[i] += add[i];
}

/* What the processes that were added before have, while those of one process are weighed. */
struct earlier {
	struct unread unread;
	double sums[];
};

/* Takes what was added out of the recovery, so that it holds one process alone. Returns NULL without memory. */
static struct earlier *set_apart(struct recovery *recovery)
{
	size_t bytes = sums_length(recovery->sums) * sizeof(double);
	struct earlier *earlier = malloc(sizeof(*earlier) + bytes);

	if (!earlier)
		return NULL;
	earlier->unread = recovery->totals.unread;
	memcpy(earlier->sums, sums_flat(recovery->sums), bytes);
	memset(&recovery->totals.unread, 0, sizeof(recovery->totals.unread));
	memset(sums_flat(recovery->sums), 0, bytes);
	return earlier;
}

/* Lets the read bursts of the process that the recovery holds alone stand for all of its own, and puts back the others. */
static void put_back(struct recovery *recovery, const struct spool_side *side,
		struct earlier *earlier)
{
	unread_stand_for(&recovery->totals.unread, side->phase, side->prototypes, recovery->sums);
	add_doubles(&recovery->totals.unread, &earlier->unread,
			sizeof(earlier->unread) / sizeof(double));
	add_doubles(sums_flat(recovery->sums), earlier->sums, sums_length(recovery->sums));
	free(earlier);
}

/* Returns the seconds for which the process was observed. */
static double observed_seconds(const struct spool_image *image)
{
	const struct spool_facts *facts = &image->facts;
	const struct spool_side *side = &image->side;

	if (side->now <= facts->start || side->now - facts->start <= side->unobserved_ticks)
		return 0;
	return (double)(side->now - facts->start - side->unobserved_ticks) * facts->ns_per_tick *
			1e-9;
}

/*
 * Notes how long the process ran, `wall` seconds, its threads computed, `useful` seconds in the mean, and its cycles per
 * second. NAN: not known.
 */
static void note_times(struct recovery *recovery, const struct spool_facts *facts, double wall,
		double useful, double hertz)
{
	recovery->wall_seconds = fmax(recovery->wall_seconds, wall);
	hosts_add(&recovery->hosts, facts->host, (uint32_t)facts->rank, useful, hertz);
	if (!isfinite(useful))
		return;
	if (rank_times_has_each(facts->size))
		recovery->times.place[facts->rank].useful = useful;
	recovery->compute_seconds_most = fmax(recovery->compute_seconds_most, useful);
}

/* Adds what the agent cost in the process, which had `live` threads at the end. */
static void add_cost(struct totals *totals, const struct spool_side *side, double live)
{
	totals->agent_bytes += side->own_bytes;
	totals->start_seconds += side->start_seconds;
	totals->agent_seconds += side->start_seconds * live;
	totals->beyond_threads += side->beyond_threads;
	totals->beyond_seconds += side->beyond_seconds;
}

static int add_process(struct recovery *recovery, const struct spool_image *image,
		struct site_table *sites)
{
	const struct spool_facts *facts = &image->facts;
	const struct spool_side *side = &image->side;
	double *sums = sums_flat(recovery->sums);
	double compute = 0, threads = 0, live = 0, wall = observed_seconds(image), hertz = NAN;
	bool lowest = !recovery->count || facts->rank < recovery->facts.rank;
	struct earlier *earlier = NULL;
	struct rank_use before;
	int error = 0;

	use_of_all(recovery, side->prototypes, &before);
	if (facts->has_leads) {
		earlier = set_apart(recovery);
		error = earlier ? 0 : -ENOMEM;
	}
	take_table(recovery, side);
	programs_add(&recovery->programs, facts->command, facts->command_bytes,
			(unsigned)facts->rank);
	profile_share(&image->profile, facts->module, facts->modules, &recovery->profile);
	for (uint64_t i = 0; i < facts->sums_length; i++)
		sums[i] += image->sums[i];
	if (lowest) {
		recovery->facts = *facts;
		recovery->owned = image->owned;
		recovery->paused = side->paused;
		recovery->off_seconds = (double)side->unobserved_ticks * facts->ns_per_tick * 1e-9;
	}
	for (uint32_t i = 0; i < side->threads && !error; i++) {
		const struct account *account = &image->thread[i].account;

		error = add_thread(recovery, image, &image->thread[i], sites);
		compute += account->ticks * facts->ns_per_tick * 1e-9;
		threads += account_threads(account, wall * 1e9 / facts->ns_per_tick);
		live += account->threads - account->ended;
	}
	if (earlier)
		put_back(recovery, side, earlier);
	if (!error)
		error = keep_use(recovery, &(struct process){ image, compute, threads }, &before,
				&hertz);
	free(recovery->iterations);
	recovery->iterations = NULL;
	note_times(recovery, facts, wall, threads > 0 ? compute / threads : NAN, hertz);
	add_cost(&recovery->totals, side, live);
	recovery->refused += side->refused;
	if (side->rounds > recovery->rounds)
		recovery->rounds = side->rounds;
	recovery->found[facts->rank / 8] |= (unsigned char)(1u << facts->rank % 8);
	recovery->count++;
	return error;
}

int recovery_add(struct recovery *recovery, const struct spool_image *image, char *why,
		size_t why_size)
{
	struct site_table *sites;
	int error = recovery->count ? compare(recovery, &image->facts, why, why_size) :
				      begin_run(recovery, &image->facts);

	if (error)
		return error;
	sites = calloc(1, sizeof(*sites));
	error = sites ? add_process(recovery, image, sites) : -ENOMEM;
	free(sites);
	return error;
}

unsigned recovery_count(const struct recovery *recovery)
{
	return recovery->count;
}

const struct hosts *recovery_hosts(const struct recovery *recovery)
{
	return &recovery->hosts;
}

struct use_list *recovery_uses(struct recovery *recovery)
{
	return &recovery->uses;
}

struct timeline_list *recovery_timelines(struct recovery *recovery)
{
	return &recovery->timelines;
}
