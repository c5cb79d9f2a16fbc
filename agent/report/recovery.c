/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/recovery.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/ranks/phase_columns.h"
#include "agent/report/report.h"
#include "agent/structures/argument_table.h"
#include "agent/structures/structures.h"
#include "multiplex/estimate/layout.h"

struct recovery {
	unsigned count;
	/* of the lowest rank; most facts are the same on all ranks */
	struct spool_facts facts;
	bool owned;
	unsigned char *found; /* a bit per rank */
	struct totals totals;
	struct profile_total profile;
	struct sums *sums;
	struct prototype_table table; /* of the newest generation of all ranks */
	uint64_t burst_min_ns;
	double wall_seconds, compute_seconds_most;
	double off_seconds; /* of the lowest rank */
	bool paused;        /* by the program, on the lowest rank */
	unsigned rounds;
	struct programs programs;
	struct hosts hosts;
	struct rank_times times; /* NAN: not known, as all are in a family or with many ranks */
	struct use_list uses;
	struct timeline_list timelines;
	struct structures *structures,
			*scratch; /* NULL: no process that was added has a structure */
	unsigned structured;      /* number of processes that have one */
	/* the arguments of their calls; NULL: no process has any */
	struct argument_table *arguments, *arguments_scratch;
	unsigned argued; /* number of processes that have any */
};

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

/* ---- adding a process ---- */

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

static bool has(const struct recovery *recovery, int rank)
{
	return recovery->found[rank / 8] & 1u << rank % 8;
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
	if (has(recovery, facts->rank)) {
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
		(uint32_t)facts->rank, facts->module, facts->modules };

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

/* Keeps what a process did. before: what those that were added before it did. */
static int keep_use(struct recovery *recovery, const struct process *process,
		const struct rank_use *before)
{
	unsigned prototypes = process->image->side.prototypes;
	uint32_t rank = (uint32_t)process->image->facts.rank;
	struct rank_use use;

	use_of_all(recovery, prototypes, &use);
	rank_use_subtract(&use, before);
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

static int add_process(struct recovery *recovery, const struct spool_image *image,
		struct site_table *sites)
{
	const struct spool_facts *facts = &image->facts;
	const struct spool_side *side = &image->side;
	double *sums = sums_flat(recovery->sums);
	double compute = 0, threads = 0, live = 0, wall = 0;
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
	hosts_add(&recovery->hosts, facts->host, (uint32_t)facts->rank);
	profile_share(&image->profile, facts->module, facts->modules, &recovery->profile);
	for (uint64_t i = 0; i < facts->sums_length; i++)
		sums[i] += image->sums[i];
	if (lowest) {
		recovery->facts = *facts;
		recovery->owned = image->owned;
		recovery->paused = side->paused;
		recovery->off_seconds = (double)side->unobserved_ticks * facts->ns_per_tick * 1e-9;
	}
	if (side->now > facts->start && side->now - facts->start > side->unobserved_ticks)
		wall = (double)(side->now - facts->start - side->unobserved_ticks) *
				facts->ns_per_tick * 1e-9;
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
		error = keep_use(recovery, &(struct process){ image, compute, threads }, &before);
	recovery->wall_seconds = fmax(recovery->wall_seconds, wall);
	if (threads > 0 && rank_times_has_each(facts->size))
		recovery->times.place[facts->rank].useful = compute / threads;
	if (threads > 0)
		recovery->compute_seconds_most =
				fmax(recovery->compute_seconds_most, compute / threads);
	if (side->rounds > recovery->rounds)
		recovery->rounds = side->rounds;
	recovery->totals.agent_bytes += side->own_bytes;
	recovery->totals.start_seconds += side->start_seconds;
	recovery->totals.agent_seconds += side->start_seconds * live;
	recovery->totals.beyond_threads += side->beyond_threads;
	recovery->totals.beyond_seconds += side->beyond_seconds;
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

/* ---- the report ---- */

/* Returns the number of processes in the report. In a family, only processes that were added count. */
static int size_of(const struct recovery *recovery)
{
	return recovery->facts.family ? (int)recovery->count : recovery->facts.size;
}

/* Returns the missing ranks, as in "0,3-7", to be freed. */
static char *missing_ranks(const struct recovery *recovery)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	const char *between = "";

	for (int rank = 0; out && !recovery->facts.family && rank < recovery->facts.size; rank++) {
		int last = rank;

		if (has(recovery, rank))
			continue;
		while (last + 1 < recovery->facts.size && !has(recovery, last + 1))
			last++;
		fprintf(out, last > rank ? "%s%d-%d" : "%s%d", between, rank, last);
		between = ",";
		rank = last;
	}
	if (out)
		fclose(out);
	return text;
}

static void restore_counting(const struct spool_facts *facts, struct counting *counting)
{
	counting->plan = facts->plan;
	counting->hardware = facts->hardware;
	counting->probe.counters = facts->counters;
	counting->probe.read_ns = facts->read_ns;
	counting->warnings = facts->warnings;
	memcpy(counting->warning, facts->warning, sizeof(counting->warning));
	snprintf(counting->obstacle, sizeof(counting->obstacle), "%s", facts->obstacle);
	snprintf(counting->processor.brand, sizeof(counting->processor.brand), "%s",
			facts->processor);
	for (unsigned e = 0; e < facts->plan.events; e++) {
		counting->model_event[e] = facts->model_event[e];
		memcpy(counting->event[e].name, facts->event[e], sizeof(facts->event[e]));
	}
	counting->model = *facts->model ? model_load(facts->model, NULL, 0) : NULL;
}

/*
 * Raises the computing time to that of all bursts. Bursts of threads for which the spool had no room are only
 * in the sums.
 */
static void complete(struct recovery *recovery)
{
	struct totals *totals = &recovery->totals;
	struct tally parts = { totals->shorts.bursts + totals->unclassified.bursts,
		totals->shorts.seconds + totals->unclassified.seconds };

	for (unsigned p = 0; p < PROTOTYPES_MAX; p++) {
		parts.bursts += totals->unread.prototype[p].bursts;
		parts.seconds += totals->unread.prototype[p].seconds;
		parts.bursts += sums_common(recovery->sums, p)[BLOCK_READ];
		parts.seconds += sums_common(recovery->sums, p)[COMMON_ELAPSED];
	}
	totals->compute.bursts = fmax(totals->compute.bursts, parts.bursts);
	totals->compute.seconds = fmax(totals->compute.seconds, parts.seconds);
	/* the report divides by the number of ranks */
	totals->agent_bytes *= (double)size_of(recovery) / recovery->count;
}

void recovery_give(struct recovery *recovery, struct totals *totals, double *sums,
		struct profile_total *profile, double *wall_seconds, double *compute_seconds_most)
{
	const double *from = (const double *)&recovery->totals;
	double *into = (double *)totals;

	if (!recovery->count)
		return;
	complete(recovery);
	for (size_t i = 0; i < sizeof(*totals) / sizeof(*into); i++)
		into[i] += from[i];
	for (uint64_t i = 0; i < recovery->facts.sums_length; i++)
		if (sums_flat(recovery->sums)[i] != 0) /* else sums[i] may have no storage */
			sums[i] += sums_flat(recovery->sums)[i];
	if (profile)
		profile_merge(&recovery->profile, profile);
	*wall_seconds = fmax(*wall_seconds, recovery->wall_seconds);
	*compute_seconds_most = fmax(*compute_seconds_most, recovery->compute_seconds_most);
}

/* Turns all places into addresses of the lowest rank. Fills the profile. Returns the new number of modules. */
static unsigned restore_places(struct recovery *recovery, struct module *modules,
		struct profile *profile)
{
	unsigned own = recovery->facts.modules;
	struct place_modules here = { modules, own, own, 2 * SPOOL_MODULES_MAX };

	here.count = profile_restore(&recovery->profile, modules, own, here.max, profile);
	if (recovery->structures)
		structures_restore(recovery->structures, &recovery->profile.files, &here);
	if (recovery->arguments)
		argument_table_restore(recovery->arguments, &recovery->profile.files, &here);
	return here.count;
}

/* Opens a source for the addresses of the lowest rank, and for those of the profile, which it fills. */
static struct source *open_source(struct recovery *recovery, const char *library_folder,
		struct profile *profile)
{
	const struct spool_facts *facts = &recovery->facts;
	struct module *modules = malloc(2 * SPOOL_MODULES_MAX * sizeof(*modules));
	struct source *source = NULL;

	if (modules) {
		memcpy(modules, facts->module, facts->modules * sizeof(*modules));
		source = source_open(library_folder, modules,
				restore_places(recovery, modules, profile));
	}
	free(modules);
	return source;
}

/* Returns what is known of the run without the places of its phases. */
static struct report_facts facts_of(const struct recovery *recovery,
		const struct counting *counting, const struct mpi_world *world)
{
	static const struct slowdown unknown = { 0, NAN, NAN, INFINITY };
	const struct spool_facts *facts = &recovery->facts;
	bool has_times = !facts->family && rank_times_has_each(facts->size);

	return (struct report_facts){ .command = facts->command,
		.command_bytes = facts->command_bytes,
		.job = &facts->job,
		.started = facts->started,
		.scheme = facts->scheme,
		.counting = counting,
		.world = world,
		.table = &recovery->table,
		.totals = &recovery->totals,
		.sums = recovery->sums,
		.burst_min_seconds = (double)recovery->burst_min_ns * 1e-9,
		.wall_seconds = recovery->wall_seconds,
		.compute_seconds_most = recovery->compute_seconds_most,
		.off_seconds = recovery->off_seconds,
		.programs = &recovery->programs,
		.hosts = &recovery->hosts,
		.times = has_times ? &recovery->times : NULL,
		.paused = recovery->paused,
		.slowdown = recovery->off_seconds > 0 && !recovery->paused ? &unknown : NULL,
		.rounds = recovery->rounds,
		.budget = facts->budget,
		.waiting = facts->alone ? 1 : (unsigned)world->size,
		.alone = facts->alone && !facts->family };
}

/* The timeline of the run, and the phases that have a column in it. */
struct recovered_timeline {
	struct timeline_labels labels;
	struct timeline_groups groups;
};

static void add_timeline(struct report_facts *of, const struct recovery *recovery,
		const struct phase_labels *labels, struct recovered_timeline *timeline)
{
	struct rank_use use;

	rank_use_of(&use, of->table->count, of->sums, &of->totals->unread);
	phase_columns_fill(&timeline->labels, labels, &use);
	timeline_list_groups(&recovery->timelines, &timeline->labels, &timeline->groups);
	of->timeline = &timeline->groups;
	of->timeline_labels = &timeline->labels;
}

/* Adds to the facts which ranks execute each phase, and when. ranks, sets, timeline: are filled. */
static void add_ranks(struct report_facts *of, const struct recovery *recovery,
		struct phase_ranks *ranks, struct phase_sets *sets,
		struct recovered_timeline *timeline)
{
	struct phase_labels labels;

	phase_labels_fill(&labels, of->table, of->sums, of->burst_min_seconds);
	use_list_sets(&recovery->uses, &labels, (uint32_t)of->world->size,
			&recovery->profile.routes, ranks, sets);
	of->phase_ranks = ranks;
	of->phase_sets = sets;
	add_timeline(of, recovery, &labels, timeline);
}

/* Adds to the facts where the phases are, by the lowest rank's files. profile: is filled. */
static void add_places(struct report_facts *of, struct recovery *recovery,
		const char *library_folder, struct profile *profile)
{
	/* files are opened only if the spools belong to this user, because the spools name them */
	if (recovery->owned)
		of->source = open_source(recovery, library_folder, profile);
	/* others were killed before they kept theirs */
	if (recovery->structures)
		recovery->structures->left_out += recovery->count - recovery->structured;
	recovery->structured = recovery->count;
	if (recovery->arguments)
		recovery->arguments->left_out += recovery->count - recovery->argued;
	recovery->argued = recovery->count;
	of->structures = recovery->structures;
	of->arguments = recovery->arguments;
	of->routes = &recovery->profile.routes;
	of->profile = profile;
}

json_t *recovery_report(struct recovery *recovery, const char *library_folder)
{
	struct counting *counting = calloc(1, sizeof(*counting));
	struct mpi_world world = { .rank = 0, .size = size_of(recovery) };
	char *missing = recovery->count ? missing_ranks(recovery) : NULL;
	struct profile *profile = calloc(1, sizeof(*profile));
	struct phase_ranks *ranks = malloc(sizeof(*ranks));
	struct phase_sets *sets = malloc(sizeof(*sets));
	struct recovered_timeline *timeline = calloc(1, sizeof(*timeline));
	struct report_facts of;
	json_t *recovered, *report = NULL;

	if (!counting || !missing || !profile || !ranks || !sets || !timeline)
		goto out;
	of = facts_of(recovery, counting, &world);
	add_ranks(&of, recovery, ranks, sets, timeline);
	restore_counting(&recovery->facts, counting);
	memcpy(world.library, recovery->facts.library, sizeof(recovery->facts.library));
	complete(recovery);
	recovered = json_pack("{s:i,s:s}", "ranks", (int)recovery->count, "missing", missing);
	of.recovered = recovered;
	add_places(&of, recovery, library_folder, profile);
	report = report_build(&of);
	source_close(of.source);
	json_decref(recovered);
	model_free(counting->model);
out:
	free(timeline);
	free(sets);
	free(ranks);
	free(profile);
	free(counting);
	free(missing);
	return report;
}
