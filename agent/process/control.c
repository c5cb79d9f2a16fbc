/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/control.h"

#include <stdatomic.h>
#include <stddef.h>

#include "agent/core/core.h"
#include "agent/core/drain.h"
#include "agent/host/log.h"
#include "agent/host/plain_locale.h"
#include "agent/results/siblings.h"
#include "agent/results/result_files.h"
#include "sampling/clock.h"

enum level {
	LEVEL_PAUSE = 0,
	LEVEL_RESUME = 1,
	LEVEL_REPORT = 2,
};

/* Several threads may call MPI_Pcontrol at once. */
static struct {
	atomic_bool paused, was_paused;
} control;

static void pause_all(void)
{
	if (atomic_exchange(&control.paused, true))
		return;
	atomic_store(&control.was_paused, true);
	core_pause();
}

void control_stop(void)
{
	if (!atomic_exchange(&control.paused, false))
		return;
	core_resume();
}

void control_start(void)
{
	if (!core.settings.starts_paused)
		return;
	if (!core.preload->with_mpi)
		log_line("PHASEMUX_START=paused is for programs with MPI, where MPI_Pcontrol(1) "
			 "resumes: phasemux counts");
	else if (core.settings.toggle_ns > 0)
		log_line("PHASEMUX_START=paused cannot be combined with PHASEMUX_TOGGLE: phasemux "
			 "counts");
	else
		pause_all();
}

/* Writes the report of what the ranks of this node have kept. Call on the rank that reports. */
static void write_intermediate(void)
{
	struct recovery *ranks = siblings_ranks(core.spool_folder);
	json_t *report = NULL;

	if (ranks && recovery_count(ranks))
		report = recovery_report(ranks, core.preload->folder);
	if (!report)
		log_line("MPI_Pcontrol(2): no intermediate report: out of memory, or nothing is kept yet");
	else if (result_files_write(report, "intermediate", false))
		log_line("MPI_Pcontrol(2): an intermediate report is in %s", core.result_folder);
	json_decref(report);
	recovery_free(ranks);
}

static void report_now(void)
{
	struct plain_locale plain;

	if (!core.spool) {
		log_line("MPI_Pcontrol(2): no intermediate report without a spool");
		return;
	}
	plain = plain_locale_enter();
	for (struct thread *thread = core_threads(); thread; thread = thread->next)
		drain_other_thread(thread, clock_now());
	if (core.world.rank == 0)
		write_intermediate();
	plain_locale_leave(&plain);
}

void control_level(int level)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;

	if (level == LEVEL_REPORT)
		report_now();
	if (level != LEVEL_PAUSE && level != LEVEL_RESUME)
		return;
	if (core.settings.toggle_ns > 0) {
		if (!atomic_flag_test_and_set(&told))
			log_line("MPI_Pcontrol(%d) changes nothing with PHASEMUX_TOGGLE", level);
		return;
	}
	if (level == LEVEL_PAUSE)
		pause_all();
	else
		control_stop();
}

bool control_is_paused(void)
{
	return atomic_load(&control.paused);
}

bool control_was_paused(void)
{
	return atomic_load(&control.was_paused);
}
