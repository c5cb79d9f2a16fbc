/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the report of the processes that were added to a recovery, or gives them to the process that reports itself. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/ranks/phase_columns.h"
#include "agent/report/recovery.h"
#include "agent/report/recovery_state.h"
#include "agent/report/report.h"
#include "multiplex/estimate/layout.h"

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

		if (recovery_has(recovery, rank))
			continue;
		while (last + 1 < recovery->facts.size && !recovery_has(recovery, last + 1))
			last++;
		fprintf(out, last > rank ? "%s%d-%d" : "%s%d", between, rank, last);
		between = ",";
		rank = last;
	}
	if (out)
		fclose(out);
	return text;
}

static void restore_counting(const struct recovery *recovery, struct counting *counting)
{
	const struct spool_facts *facts = &recovery->facts;

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
	if (recovery->refused)
		counting_warn(counting,
				"%u threads are missing, because the spool had no room for them, or was "
				"out of reach in a sandbox of the program",
				recovery->refused);
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
	restore_counting(recovery, counting);
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
