/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/fork.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <urcu-bp.h>

#include "agent/boundary/computing.h"
#include "agent/core/core.h"
#include "agent/core/storage.h"
#include "agent/core/helper.h"
#include "agent/host/log.h"
#include "agent/process/alone.h"
#include "agent/process/finalize.h"
#include "agent/process/first_thread.h"
#include "agent/process/hooks.h"
#include "agent/process/service.h"
#include "agent/process/threads.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"
#include "sampling/emulated/emulator.h"

static struct {
	double run;
	char folder[sizeof(core.spool_folder)]; /* folder of the first process' spool */
	uid_t user;
	bool alone;                  /* the process had no other thread when it forked */
	bool helper_left;            /* the helper's thread was ended for the fork */
	pid_t first;                 /* kernel number of the child's first thread */
	struct preload_thread *slot; /* slot of the first thread; NULL: not known */
} forked;

/* ---- the child, on its helper ---- */

/*
 * Opens the child's own spool. Returns false if it is not in the folder of the first process, because the last
 * process looks only there.
 */
static bool open_spool(void)
{
	if (storage_open_spool(forked.run))
		return false;
	if (strcmp(core.spool_folder, forked.folder) == 0)
		return true;
	spool_remove(core.spool);
	return false;
}

static bool family_join_child(void)
{
	int number = geteuid() == forked.user ? family_join(core.family) : -EPERM;

	if (number < 0)
		return false;
	family_stand(core.family, (unsigned)number);
	core.world.rank = number;
	core.process.start = clock_now();
	core.process.start_seconds = core.rules.fixed_ticks = 0;
	*core.process.mark = 1;
	if (!open_spool() || storage_open_ledger())
		return false;
	storage_record_bursts();
	exchange_step(core.exchange, NULL, core.process.start);
	first_thread_observe(forked.first, forked.slot);
	core.preload->set_hooks(&hooks);
	return true;
}

/*
 * Waits until the child has computed for a while, and starts to observe it. Returns false if the child is not
 * to be observed.
 */
static bool join_when_computing(void)
{
	for (uint64_t pause = COMPUTING_PAUSE_FIRST_NS; computing_used_ns() < COMPUTING_NS;
			pause = computing_next_pause(pause))
		if (!helper_rest(pause))
			return false;
	family_computes(core.family);
	return family_join_child();
}

/* ---- fork ---- */

/*
 * Holds the helper and liburcu around the fork. Otherwise the child might inherit a lock whose owner does not
 * exist there.
 */
static void before(void)
{
	int state = cancellation_hold();

	forked.helper_left = false;
	forked.alone = alone_is();
	/* QEMU 7.2 aborts the child of a process with threads when that starts a thread of its own */
	if (forked.alone && emulator_threads())
		forked.helper_left = alone_leave();
	else if (forked.alone)
		helper_hold();
	urcu_bp_before_fork();
	cancellation_release(state);
}

static void in_parent(void)
{
	int state = cancellation_hold();

	urcu_bp_after_fork_parent();
	if (forked.helper_left)
		helper_return();
	else if (forked.alone)
		helper_let_go();
	cancellation_release(state);
}

static void abandon_counters(void)
{
	for (struct thread *thread = core_threads(); thread; thread = thread->next) {
		overflow_abandon(&thread->drain.slicer.overflow);
		for (unsigned g = 0; g < PLAN_GROUPS_MAX; g++)
			if (thread->groups[g].count)
				group_abandon(&thread->groups[g]);
	}
}

/* Resets the core in the child. The spool, the ledger and the threads of the parent are left as they are. */
static void begin_anew(void)
{
	core.process.pid = getpid();
	core.process.main_thread = pthread_self();
	core.spool = NULL;
	core.bursts = NULL;
	core.rules.adaptive = NULL;
	core.rules.finished = false;
	atomic_store(&core.stepping, 0);
	threads_forget();
	forked.first = (pid_t)syscall(SYS_gettid);
	*forked.slot = (struct preload_thread){ .core = NULL };
	log_speaker(false);
	helper_start_in_child(&(struct helper_tasks){ .begin = join_when_computing,
			.look = service_all_threads,
			.keep = finalize_keep });
}

/* Prepares the child of a process without MPI, which may be observed later. */
static void find_a_place(const struct thread *thread, bool first, bool finished)
{
	urcu_bp_after_fork_child();
	helper_let_go_in_child();
	if (!first)
		forked.slot = thread ? thread->identity.slot : NULL;
	if (forked.alone && forked.slot && !finished && family_looks(core.family))
		begin_anew();
}

static void in_child(void)
{
	bool first, finished = atomic_load(&core.rules.finished);
	struct thread *thread = threads_calling(&first);
	int state = cancellation_hold();

	core.preload->set_hooks(NULL);
	log_release();
	abandon_counters();
	if (core.family)
		find_a_place(thread, first, finished);
	cancellation_release(state);
}

int fork_prepare(double run)
{
	forked.run = run;
	forked.user = geteuid();
	strcpy(forked.folder, core.spool_folder);
	if (!core.family)
		return pthread_atfork(NULL, NULL, in_child) ? -ENOMEM : 0;
	return pthread_atfork(before, in_parent, in_child) ? -ENOMEM : 0;
}
