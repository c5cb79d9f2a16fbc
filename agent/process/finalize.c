/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/finalize.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "agent/boundary/tasks.h"
#include "agent/bursts/delimit.h"
#include "agent/bursts/reading.h"
#include "agent/bursts/rest_estimate.h"
#include "agent/bursts/resting.h"
#include "agent/bursts/structure.h"
#include "agent/core/core.h"
#include "agent/core/drain.h"
#include "agent/core/helper.h"
#include "agent/core/storage.h"
#include "agent/core/toggle.h"
#include "agent/host/float_env.h"
#include "agent/host/log.h"
#include "agent/host/plain_locale.h"
#include "agent/leads/leads.h"
#include "agent/ledger/checkpoint.h"
#include "agent/process/control.h"
#include "agent/process/service.h"
#include "agent/process/threads.h"
#include "agent/region/region.h"
#include "agent/report/report.h"
#include "agent/results/result_files.h"
#include "agent/results/results.h"
#include "agent/results/siblings.h"
#include "agent/thread/path.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"

#define STEP_PAUSE_US 1000

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
		.paused = control_was_paused(),
		.leads = exchange_leads(core.exchange),
		.region = exchange_region(core.exchange),
		.clusters = exchange_clusters(core.exchange),
		.history = exchange_history(core.exchange),
		.sample = exchange_sample(core.exchange),
		.slowdown = toggle_slowdown(&slowdown) ? &slowdown : NULL };

	if (family) {
		results_add_family(results);
		world.size = 1 + (results->others ? (int)recovery_count(results->others) : 0);
	}
	results_give(results, &facts);
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

	results_collect(&results, wall_seconds, off_seconds);
	account_process(results.totals, ending);
	reduced = clock_now();
	if (core.adapter && results_reduce(&results))
		missing = MISSING_SUMS;
	else if (!core.adapter || core.world.rank == 0)
		missing = report(&results, off_seconds, reduced);
	results_fini(&results);
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

/* The last steps of a run, which another thread than the one that ends it may take. */
struct ending {
	double wall_seconds, off_seconds;
	uint64_t begun; /* ticks of the clock */
	bool is_made;
};

static void make_ending(void *of)
{
	struct ending *ending = of;
	struct tasks_patience patience = { 0 };
	struct plain_locale plain = plain_locale_enter();

	for (struct thread *each = core_threads(); each; each = each->next)
		drain_thread(each, ending->begun);
	/* without MPI, another thread may be in a step of a round, which does not take long */
	while (!core.adapter && !service_try_step() &&
			tasks_patience_lasts(&patience, atomic_load(&core.stepping)))
		usleep(STEP_PAUSE_US);
	finish_run(ending->wall_seconds, ending->off_seconds, ending->begun);
	ending->is_made = true;
	plain_locale_leave(&plain);
}

/*
 * Stops the helper, and takes the last steps. If the program has put itself into a sandbox in which it may open no
 * files, the helper takes them, because it is outside. With MPI this is impossible: the helper must not call MPI.
 */
static void stop_and_end(struct ending *ending)
{
	if (!core.adapter && core.spool && !spool_is_in_reach(core.spool))
		helper_stop_with(make_ending, ending);
	else
		helper_stop();
	if (!ending->is_made)
		make_ending(ending);
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
		region_finish(thread);
		leads_end(thread, now);
		structure_finish(thread);
	}
	/* pairs with the acquires in threads.c; other threads start no further burst */
	atomic_store_explicit(&core.rules.finished, true, memory_order_release);
	if (core.family)
		family_ends(core.family, (unsigned)core.world.rank);
	off = thread ? thread->unobserved : 0;
	stop_and_end(&(struct ending){ .wall_seconds = clock_ns(now - core.process.start - off) *
					1e-9,
			.off_seconds = clock_ns(off) * 1e-9,
			.begun = now });
	end_recording();
	if (core.adapter)
		core.adapter->close();
	core.preload->set_hooks(NULL);
	if (thread)
		thread_close(thread);
	if (core.preload->with_mpi)
		log_release();
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
