/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/finalize.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/bursts/delimit.h"
#include "agent/bursts/reading.h"
#include "agent/bursts/rest_estimate.h"
#include "agent/bursts/resting.h"
#include "agent/bursts/structure.h"
#include "agent/core/core.h"
#include "agent/core/crowd.h"
#include "agent/core/drain.h"
#include "agent/core/storage.h"
#include "agent/core/toggle.h"
#include "agent/core/helper.h"
#include "agent/leads/leads.h"
#include "agent/ranks/phase_columns.h"
#include "agent/host/float_env.h"
#include "agent/host/log.h"
#include "agent/host/plain_locale.h"
#include "agent/ledger/checkpoint.h"
#include "agent/process/control.h"
#include "agent/results/siblings.h"
#include "agent/results/result_files.h"
#include "agent/results/locations.h"
#include "agent/process/service.h"
#include "agent/process/threads.h"
#include "agent/report/report.h"
#include "agent/thread/path.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"

/* The wait for the step of a round that another thread makes: in all 1 s. */
#define STEP_TRIES    1000
#define STEP_PAUSE_US 1000

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

/*
 * Adds the overhead of this process to the totals. The time that it waits for the agent at its start and end
 * counts for each of its threads. ending: ticks of the clock when the end began.
 */
static void account_process(struct totals *totals, uint64_t ending)
{
	totals->start_seconds = core.process.start_seconds;
	totals->end_seconds = clock_ns(clock_now() - ending) * 1e-9;
	totals->helper_seconds = helper_seconds();
	totals->agent_seconds += totals->helper_seconds +
			(totals->start_seconds + totals->end_seconds) *
					(totals->threads - totals->ended_threads);
}

/*
 * Adds the time in which rank 0 made the report since `begin`, while all ranks wait for it. The time to write
 * the report is not included, because the report contains the sum.
 */
static void account_report(struct totals *totals, uint64_t begin)
{
	double seconds = clock_ns(clock_now() - begin) * 1e-9;

	totals->end_seconds += seconds * core.world.size;
	totals->agent_seconds += seconds * (totals->threads - totals->ended_threads);
}

/* Numbers of which the largest of all ranks is taken. */
struct most {
	double wall_seconds, compute_seconds;
	double no_memory;          /* 1 if a rank has no memory */
	double hash, hash_negated; /* of the command; their sum is 0 if all ranks have the same one */
};

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
	struct rank_times times;   /* of all ranks */
	struct rank_use use;       /* of this process */
	struct phase_ranks phases; /* of all ranks */
	struct phase_sets sets;
	struct phase_ranks scratch;
	struct rank_timeline timeline;
};

/* Fills in what this process knows of itself. useful_seconds: mean computing time of its threads. */
static void members_describe(struct members *members, double useful_seconds)
{
	hosts_add(members->hosts, core.host, (uint32_t)core.world.rank);
	members->own = (struct rank_time){ useful_seconds, mpi_seconds() };
	if (core.adapter)
		return;
	/* it reports for itself; without MPI there is no time in MPI */
	if (!core.preload->with_mpi)
		members->own.mpi = NAN;
	rank_times_add(&members->times, 0, 1, &members->own, 0);
}

/* The results of this rank, then of all ranks, and of other processes of the family. */
struct results {
	struct most most;
	struct totals *totals;
	struct ledger_piece piece[LEDGER_PIECES];
	struct locations locations;
	struct programs programs;
	struct members *members; /* NULL: no memory */
	struct recovery *others; /* NULL: none */
};

/* Collects the results of this process. off_seconds: time in which the agent was off. */
static void collect(struct results *results, double wall_seconds, double off_seconds)
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
	crowd_left_out(&totals->beyond_threads, &totals->beyond_seconds);
	totals->agent_bytes += (double)(exchange_bytes(core.exchange) + sizeof(core) +
			toggle_bytes() + (core.family ? family_bytes() : 0));
	if (results->members) {
		members_describe(results->members, results->most.compute_seconds);
		rank_use_of(&results->members->use, ledger_table(core.ledger)->count,
				ledger_sums(core.ledger), &totals->unread);
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

/* Merges the timelines of the ranks. labels: as rank 0 has filled them. Returns 0 or -EIO. */
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

/* Merges the results of all ranks on rank 0. Returns 0 or -EIO. */
static int reduce(struct results *results)
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

/* Adds the results that the other processes of the family have left in their spools. */
static void add_others(struct results *results)
{
	unsigned refused = family_refused(core.family), warnings = core.counting.warnings;

	results->others = siblings_read(core.spool_folder, core.world.rank);
	if (results->others) {
		recovery_give(results->others, results->totals, results->piece[1].values,
				results->locations.total, &results->most.wall_seconds,
				&results->most.compute_seconds);
		if (results->members)
			hosts_merge(recovery_hosts(results->others), results->members->hosts);
	}
	if (refused && warnings < COUNTING_WARNINGS_MAX) {
		snprintf(core.counting.warning[warnings], sizeof(core.counting.warning[0]),
				"%u forked processes are left out: %d are observed", refused,
				FAMILY_MAX);
		core.counting.warnings++;
	}
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

/* Adds to the facts what the run has learnt and where its phases are. */
static void add_results(struct report_facts *facts, struct results *results)
{
	struct locations *locations = &results->locations;
	const struct most *most = &results->most;

	facts->totals = results->totals;
	facts->programs = &results->programs;
	facts->sums = ledger_sums(core.ledger);
	facts->table = ledger_table(core.ledger);
	facts->burst_min_seconds = (double)ledger_burst_min_ns(core.ledger) * 1e-9;
	facts->wall_seconds = most->wall_seconds;
	facts->compute_seconds_most = most->compute_seconds;
	facts->paused = control_was_paused();
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

/* What is missing of the report. If ranks differ, the largest value counts for all. */
enum missing {
	MISSING_NOTHING,
	MISSING_FORMS, /* some or all forms of the report; rank 0 has said why */
	MISSING_SUMS   /* MPI refused a call */
};

/* Makes the report and writes its forms. reduced: when the sums of all ranks were here. */
static enum missing write_report(const struct report_facts *facts, struct totals *totals,
		uint64_t reduced)
{
	json_t *report = report_build(facts);
	bool written = false;

	source_close(facts->source);
	if (report) {
		account_report(totals, reduced);
		report_account(report, facts);
		written = result_files_write(report, "report", true);
	} else {
		log_line("no report: out of memory");
	}
	json_decref(report);
	return written ? MISSING_NOTHING : MISSING_FORMS;
}

/* Reports the results of all ranks. off_seconds: of rank 0. reduced: when the sums of all ranks were here. */
static enum missing report(struct results *results, double off_seconds, uint64_t reduced)
{
	bool family = core.family && family_members(core.family) > 1;
	struct mpi_world world = core.world;
	struct slowdown slowdown;
	struct report_facts facts = { .command = core.command,
		.command_bytes = core.command_bytes,
		.job = &core.job,
		.started = core.process.started,
		.scheme = core.settings.scheme,
		.counting = &core.counting,
		.world = &world,
		.rounds = exchange_rounds(core.exchange),
		.budget = core.settings.budget,
		.waiting = core.adapter ? (unsigned)world.size : 1,
		.alone = !core.adapter && !family,
		.off_seconds = off_seconds,
		.leads = exchange_leads(core.exchange),
		.clusters = exchange_clusters(core.exchange),
		.slowdown = toggle_slowdown(&slowdown) ? &slowdown : NULL };

	if (family) {
		add_others(results);
		world.size = 1 + (results->others ? (int)recovery_count(results->others) : 0);
	}
	add_results(&facts, results);
	return write_report(&facts, results->totals, reduced);
}

/*
 * Merges the ranks' results, of which rank 0 makes the report. ending: ticks of the clock since when the program
 * waits for the agent.
 */
static enum missing reduce_and_report(double wall_seconds, double off_seconds, uint64_t ending)
{
	enum missing missing = MISSING_NOTHING;
	struct results results;
	uint64_t reduced;

	collect(&results, wall_seconds, off_seconds);
	account_process(results.totals, ending);
	reduced = clock_now();
	if (core.adapter && reduce(&results))
		missing = MISSING_SUMS;
	else if (!core.adapter || core.world.rank == 0)
		missing = report(&results, off_seconds, reduced);
	recovery_free(results.others);
	free(results.members);
	locations_fini(&results.locations);
	return missing;
}

/*
 * Keeps all results of this process in its spool. Returns whether it ends last in its family, and reports for
 * all.
 */
static bool is_last(void)
{
	ledger_close(core.ledger, core_threads(), NULL);
	for (struct thread *thread = core_threads(); thread; thread = thread->next)
		ledger_checkpoint(core.ledger, thread, clock_now(), true);
	if (!family_leave(core.family, (unsigned)core.world.rank))
		return false;
	/* another process may have learned in the meantime, and left */
	family_take(core.family, core.ledger);
	log_speaker(true);
	return true;
}

/* Makes the report with all ranks, and then removes the spools, which stay if the report is not complete. */
static void finish_run(double wall_seconds, double off_seconds, uint64_t ending)
{
	uint64_t here = clock_now();
	double missing = exchange_meet(core.exchange) ? MISSING_SUMS : MISSING_NOTHING;

	/* the wait for ranks that end later is not overhead */
	ending += clock_now() - here;
	if (!missing && exchange_finish(core.exchange, core_threads()))
		missing = MISSING_SUMS;
	if (core.family && !is_last())
		return;
	if (!missing)
		missing = reduce_and_report(wall_seconds, off_seconds, ending);

	if (core.adapter && core.adapter->max(&missing, 1))
		missing = MISSING_SUMS;
	core.preload->told();
	if (missing == MISSING_SUMS)
		log_line("no report: MPI refused a collective");
	if (missing && core.spool)
		storage_say_recover("");
	if (missing)
		return;
	if (core.family && family_members(core.family) > 1)
		siblings_remove(core.spool_folder, core.world.rank);
	if (core.spool)
		spool_remove(core.spool);
}

static void end_recording(void)
{
	int error;

	if (!core.bursts)
		return;
	ledger_record(core.ledger, NULL);
	error = burst_csv_close(core.bursts);
	core.bursts = NULL;
	if (error)
		log_line("bursts could not be recorded to the end: %s", strerror(-error));
}

static FLOAT_ENV_COMPUTES void end_run(struct preload_thread *slot, void *site, const void *frame)
{
	uint64_t now = clock_now(), off;
	struct thread *thread = threads_of_slot(slot);
	struct plain_locale plain;

	if (getpid() != core.process.pid) /* clone() made this process; the run goes on in its parent */
		return;
	plain = plain_locale_enter();
	toggle_stop();
	control_stop();
	if (thread) {
		if (thread->resting.since)
			resting_end(thread, now);
		delimit_look_return(thread, &core.rules, now);
		reading_stop(thread, &core.rules, now);
		thread->call.path = path_find(&thread->sites.paths, (uintptr_t)site, frame);
		delimit_end(thread, &core.rules,
				core.adapter ? MPI_CALL_Finalize : THREAD_pthread_create, now);
		if (core.adapter)
			structure_call(thread,
					site_find(&thread->sites, thread->call.path,
							MPI_CALL_Finalize),
					0);
		rest_estimate_finish(thread, now);
	}
	if (thread) {
		leads_end(thread, now);
		structure_finish(thread);
	}
	/* pairs with the acquires in threads.c; other threads start no further burst */
	atomic_store_explicit(&core.rules.finished, true, memory_order_release);
	if (core.family)
		family_ends(core.family, (unsigned)core.world.rank);
	helper_stop();
	for (struct thread *each = core_threads(); each; each = each->next)
		drain_thread(each, now);
	/* without MPI, another thread may be in a step of a round, which does not take long */
	for (int tries = 0; !core.adapter && tries < STEP_TRIES && !service_try_step(); tries++)
		usleep(STEP_PAUSE_US);
	off = thread ? thread->unobserved : 0;
	finish_run(clock_ns(now - core.process.start - off) * 1e-9, clock_ns(off) * 1e-9, now);
	end_recording();
	if (core.adapter)
		core.adapter->close();
	core.preload->set_hooks(NULL);
	if (thread)
		thread_close(thread);
	plain_locale_leave(&plain);
}

void finalize_hook(struct preload_thread *slot, void *site, const void *frame)
{
	struct float_env kept = float_env_hold();
	int state = cancellation_hold();

	end_run(slot, site, frame);
	cancellation_release(state);
	float_env_release(kept);
}

void finalize_keep(void)
{
	struct plain_locale plain = plain_locale_enter();
	uint64_t now = clock_now();

	for (struct thread *each = core_threads(); each; each = each->next)
		drain_other_thread(each, now);
	if (service_try_step())
		exchange_finish(core.exchange, core_threads());
	/*
	 * The last training may classify bursts that waited for it. The main thread waits for this one, and
	 * reads no bursts any more.
	 */
	for (struct thread *each = core_threads(); each; each = each->next)
		if (each->identity.main)
			drain_thread(each, now);
		else
			drain_other_thread(each, now);
	if (core.family)
		family_keep(core.family, (unsigned)core.world.rank);
	plain_locale_leave(&plain);
}

static FLOAT_ENV_COMPUTES void leave_run(struct preload_thread *slot, void *site, const void *frame)
{
	uint64_t now = clock_now();
	struct thread *thread;

	/* this may be the child of a vfork, in its parent's memory */
	if (getpid() != core.process.pid || !*core.process.mark)
		return;
	cancellation_hold(); /* until the process ends */
	thread = threads_of_slot(slot);
	if (thread) {
		if (thread->resting.since)
			resting_end(thread, now);
		reading_stop(thread, &core.rules, now);
		thread->call.path = path_find(&thread->sites.paths, (uintptr_t)site, frame);
		delimit_end(thread, &core.rules, MPI_CALL_Finalize, now);
		rest_estimate_finish(thread, now);
	}
	atomic_store_explicit(&core.rules.finished, true, memory_order_release);
	helper_finish();
}

void finalize_leave(struct preload_thread *slot, void *site, const void *frame)
{
	struct float_env kept = float_env_hold();

	leave_run(slot, site, frame);
	float_env_release(kept);
}

/*
 * Says that an MPI program ends without MPI_Finalize, and how to get its report. Takes no lock, because a
 * thread that held it may not exist any more.
 */
__attribute__((destructor)) static void ended(void)
{
	int state;

	if (!core.process.attached || !core.preload->with_mpi || getpid() != core.process.pid ||
			atomic_load_explicit(&core.rules.finished, memory_order_relaxed))
		return;
	state = cancellation_hold();
	/* it must not use libraries whose destructors follow */
	helper_stop_at_exit();
	if (core.spool) {
		storage_say_recover("MPI_Finalize was not called; ");
	} else {
		core.preload->told();
		log_line("no report: MPI_Finalize was not called");
	}
	cancellation_release(state);
}
