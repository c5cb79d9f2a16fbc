/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/results/results.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/core/core.h"
#include "agent/core/crowd.h"
#include "agent/core/toggle.h"
#include "agent/iterations/iterations.h"
#include "agent/iterations/rank_iterations.h"
#include "agent/ranks/phase_columns.h"
#include "agent/region/region.h"
#include "agent/results/siblings.h"
#include "sampling/clock.h"

/* Returns the seconds that the thread which speaks MPI spent in MPI or polling. */
static double mpi_seconds(void)
{
	uint64_t ticks = 0;

	for (const struct thread *thread = core_threads(); thread; thread = thread->next)
		if (thread->identity.main)
			ticks += atomic_load(&thread->counts.mpi_ticks) +
					atomic_load(&thread->counts.poll_ticks);
	return clock_ns(ticks) * 1e-9;
}

/* Returns the mean computing time of a thread of this process in seconds. `elapsed`: ticks of the run. */
static double mean_computing(uint64_t elapsed)
{
	double seconds = 0, threads = 0;

	for (const struct thread *thread = core_threads(); thread; thread = thread->next) {
		struct account account;

		thread_account(thread, &account);
		seconds += clock_ns((uint64_t)account.ticks) * 1e-9;
		threads += account_threads(&account, (double)elapsed);
	}
	return threads > 0 ? seconds / threads : 0;
}

/* The timeline of this process, then of all ranks. */
struct rank_timeline {
	struct timeline_of_process own;
	double seconds[PROTOTYPES_MAX];
	struct timeline_labels labels;
	struct timeline_groups groups, scratch;
};

/* Collects the timeline of this process. use: what it did. */
static void collect_timeline(struct rank_timeline *timeline, const struct rank_use *use,
		const struct totals *totals, double wall_seconds)
{
	timeline->own = (struct timeline_of_process){ .timeline = *ledger_timeline(core.ledger),
		.ns_per_tick = clock_here.ns_per_tick,
		.threads = totals_threads(totals, wall_seconds),
		.compute = totals->compute.seconds,
		.rank = (uint32_t)core.world.rank,
		.prototypes = PROTOTYPES_MAX,
		.seconds = timeline->seconds };
	rank_use_seconds(use, timeline->seconds);
}

/* What is known of the ranks, beside the sums. */
struct members {
	struct hosts hosts[2]; /* the second one is for scratch */
	struct rank_time own;
	struct rank_times times;            /* of all ranks */
	struct rank_use use;                /* of this process */
	struct rank_iterations *iterations; /* of this process; NULL: none was measured */
	struct phase_ranks phases;          /* of all ranks */
	struct phase_sets sets;
	struct phase_ranks scratch;
	struct rank_timeline timeline;
};

/* Fills in what this process knows of itself, with its use. useful_seconds: mean computing time of its threads. */
static void members_describe(struct members *members, double useful_seconds)
{
	hosts_add(members->hosts, core.host, (uint32_t)core.world.rank, useful_seconds,
			core.counting.hardware ? hosts_cycles_per_second(&members->use) : NAN);
	members->own = (struct rank_time){ useful_seconds, mpi_seconds() };
	if (core.adapter)
		return;
	/* it reports for itself; without MPI there is no time in MPI */
	if (!core.preload->with_mpi)
		members->own.mpi = NAN;
	rank_times_add(&members->times, 0, 1, &members->own, 0);
}

/* Adds the iterations of this process to its use. */
static void collect_iterations(struct members *members, const struct thread *threads)
{
	/* if another thread ends the run, the main thread may still use its structure */
	for (; threads; threads = threads->next)
		if (threads->identity.main && threads->structure.finished && !members->iterations)
			members->iterations = rank_iterations_new(iterations_sample(threads),
					&threads->sites, clock_here.ns_per_tick);
	members->use.iterations = members->iterations;
}

void results_collect(struct results *results, double wall_seconds, double off_seconds)
{
	uint64_t elapsed = clock_ticks((wall_seconds + off_seconds) * 1e9);
	struct thread *threads = core_threads();
	struct totals *totals;

	*results = (struct results){ .most.wall_seconds = wall_seconds,
		.most.compute_seconds = mean_computing(elapsed),
		.members = calloc(1, sizeof(*results->members)) };
	totals = results->totals = ledger_close(core.ledger, threads, results->piece);
	totals->outside_mpi_seconds =
			totals_threads(totals, wall_seconds) * (wall_seconds - mpi_seconds());
	for (struct thread *thread = threads; thread; thread = thread->next)
		region_total(thread, &totals->region);
	crowd_left_out(&totals->beyond_threads, &totals->beyond_seconds);
	totals->agent_bytes += (double)(exchange_bytes(core.exchange) + sizeof(core) +
			toggle_bytes() + (core.family ? family_bytes() : 0));
	if (results->members) {
		rank_use_of(&results->members->use, ledger_table(core.ledger)->count,
				ledger_sums(core.ledger), &totals->unread);
		collect_iterations(results->members, threads);
		members_describe(results->members, results->most.compute_seconds);
		collect_timeline(&results->members->timeline, &results->members->use, totals,
				wall_seconds);
	}
	/* if one rank has no memory, the report has no samples of any */
	if (locations_init(&results->locations, core.ledger, &core.counting.plan, threads) ||
			!results->members ||
			(core.settings.structure &&
					locations_add_structure(&results->locations, threads,
							(uint32_t)core.world.rank,
							core.settings.arguments)))
		results->most.no_memory = 1;
}

static void label(struct phase_labels *labels)
{
	phase_labels_fill(labels, ledger_table(core.ledger), ledger_sums(core.ledger),
			(double)ledger_burst_min_ns(core.ledger) * 1e-9);
}

/* Gives columns of the timeline to the phases with most time in what is known of all ranks. */
static void label_timeline(struct rank_timeline *timeline, const struct phase_labels *labels,
		const struct totals *totals)
{
	struct rank_use use;

	rank_use_of(&use, ledger_table(core.ledger)->count, ledger_sums(core.ledger),
			&totals->unread);
	phase_columns_fill(&timeline->labels, labels, &use);
}

/* Merges the timelines of the ranks, with the labels that rank 0 has filled. Returns 0 or -EIO. */
static int reduce_timeline(struct rank_timeline *timeline)
{
	if (core.adapter->broadcast_start(&timeline->labels, sizeof(timeline->labels)) ||
			core.adapter->wait())
		return -EIO;
	timeline_groups_add(&timeline->groups, &timeline->own, &timeline->labels);
	return timeline_groups_reduce(&timeline->groups, &timeline->scratch, core.adapter);
}

/* Merges what the ranks did in each phase. On rank 0, the sums and the routes are those of all ranks. Returns 0 or -EIO. */
static int reduce_phases(struct members *members, const struct routes *routes,
		const struct totals *totals)
{
	uint32_t rank = (uint32_t)core.world.rank;
	struct phase_labels labels = { 0 }, of_sets = { 0 };

	if (rank == 0)
		label(&labels);
	if (phase_ranks_reduce(&members->phases, &members->scratch, &members->use, &labels, rank,
			    core.adapter))
		return -EIO;
	if (rank == 0) {
		phase_sets_find(&members->sets, &labels, &members->phases,
				(uint32_t)core.world.size, routes);
		phase_sets_label(&members->sets, &labels, &of_sets);
		label_timeline(&members->timeline, &labels, totals);
	}
	return phase_ranks_reduce(&members->sets.ranks, &members->scratch, &members->use, &of_sets,
			       rank, core.adapter) ?
			-EIO :
			reduce_timeline(&members->timeline);
}

/* Merges what is known of the ranks. wall_seconds: of the rank that ran longest. Returns 0 or -EIO. */
static int reduce_members(struct members *members, double wall_seconds)
{
	rank_times_add(&members->times, core.world.rank, core.world.size, &members->own,
			wall_seconds);
	return hosts_reduce(members->hosts, core.adapter) ||
					core.adapter->sum((double *)&members->times,
							sizeof(members->times) / sizeof(double)) ?
			-EIO :
			0;
}

int results_reduce(struct results *results)
{
	struct most *most = &results->most;

	most->hash = programs_hash(core.command, core.command_bytes);
	most->hash_negated = -most->hash;
	for (unsigned i = 0; i < LEDGER_PIECES; i++)
		if (core.adapter->sum(results->piece[i].values, results->piece[i].length))
			return -EIO;
	if (core.adapter->max(&most->wall_seconds, sizeof(*most) / sizeof(double)))
		return -EIO;
	if (most->hash + most->hash_negated > 0 &&
			programs_reduce(&results->programs, core.adapter, &core.world, core.command,
					core.command_bytes))
		return -EIO;
	if (most->no_memory > 0)
		return 0;
	return reduce_members(results->members, most->wall_seconds) ||
					locations_reduce(&results->locations, core.adapter) ||
					reduce_phases(results->members, results->locations.routes,
							results->totals) ?
			-EIO :
			0;
}

void results_add_family(struct results *results)
{
	unsigned refused = family_refused(core.family);

	results->others = siblings_read(core.spool_folder, core.world.rank);
	if (results->others) {
		recovery_give(results->others, results->totals, results->piece[1].values,
				results->locations.total, &results->most.wall_seconds,
				&results->most.compute_seconds);
		if (results->members)
			hosts_merge(recovery_hosts(results->others), results->members->hosts);
	}
	if (refused)
		counting_warn(&core.counting, "%u forked processes are left out: %d are observed",
				refused, FAMILY_MAX);
}

/* Groups the timelines of the processes of a family, which this one reports for, or of this one alone. */
static void add_timelines(struct results *results)
{
	struct timeline_list own = { 0 };
	struct timeline_list *list = results->others ? recovery_timelines(results->others) : &own;
	struct rank_timeline *timeline = &results->members->timeline;

	if (timeline_list_add(list, &timeline->own) == 0)
		timeline_list_groups(list, &timeline->labels, &timeline->groups);
	timeline_list_fini(&own);
}

/* Adds up the phases of the processes of a family, which this one reports for, or of this one alone. */
static void add_phases(struct results *results)
{
	struct use_list own = { 0 };
	struct use_list *list = results->others ? recovery_uses(results->others) : &own;
	struct members *members = results->members;
	struct phase_labels labels;

	label(&labels);
	if (use_list_add(list, (uint32_t)core.world.rank, &members->use,
			    ledger_table(core.ledger)->count) == 0)
		use_list_sets(list, &labels, (uint32_t)list->count, results->locations.routes,
				&members->phases, &members->sets);
	use_list_fini(&own);
	label_timeline(&members->timeline, &labels, results->totals);
	add_timelines(results);
}

void results_give(struct results *results, struct report_facts *facts)
{
	struct locations *locations = &results->locations;
	const struct most *most = &results->most;

	facts->totals = results->totals;
	facts->programs = &results->programs;
	facts->sums = ledger_sums(core.ledger);
	facts->table = ledger_table(core.ledger);
	facts->metric = ledger_metrics(core.ledger, &facts->metrics);
	facts->burst_min_seconds = (double)ledger_burst_min_ns(core.ledger) * 1e-9;
	facts->wall_seconds = most->wall_seconds;
	facts->compute_seconds_most = most->compute_seconds;
	facts->stretch = toggle_stretches(&facts->stretches);
	facts->source = locations_source(locations, core.preload->folder);
	facts->routes = locations->routes;
	if (most->no_memory > 0)
		return;
	facts->fold = locations->fold;
	facts->profile = locations->profile;
	facts->structures = locations->structures;
	facts->arguments = locations->arguments;
	if (!core.adapter)
		add_phases(results);
	facts->hosts = results->members->hosts;
	facts->phase_ranks = &results->members->phases;
	facts->phase_sets = &results->members->sets;
	facts->timeline = &results->members->timeline.groups;
	facts->timeline_labels = &results->members->timeline.labels;
	if (facts->world->size == core.world.size)
		facts->times = &results->members->times;
}

void results_fini(struct results *results)
{
	recovery_free(results->others);
	if (results->members)
		free(results->members->iterations);
	free(results->members);
	locations_fini(&results->locations);
}
