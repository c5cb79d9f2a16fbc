/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/hooks.h"

#include <unistd.h>

#include "agent/bursts/delimit.h"
#include "agent/bursts/reading.h"
#include "agent/bursts/resting.h"
#include "agent/bursts/skipping.h"
#include "agent/bursts/structure.h"
#include "agent/core/core.h"
#include "agent/core/drain.h"
#include "agent/core/storage.h"
#include "agent/core/toggle.h"
#include "agent/host/float_env.h"
#include "agent/host/log.h"
#include "agent/leads/leads.h"
#include "agent/process/control.h"
#include "agent/process/alone.h"
#include "agent/process/finalize.h"
#include "agent/process/service.h"
#include "agent/process/threads.h"
#include "agent/thread/path.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"

/* Calls that may wait. A service is done before them, because there is time then. */
static const bool waits[MPI_CALLS] = {
#define WAITS                                                       true
#define PASSES                                                      false
#define POLLS                                                       false
#define POLLS_2                                                     POLLS
#define POLLS_3                                                     POLLS
#define POLLS_4                                                     POLLS
#define INIT                                                        false
#define FINALIZE                                                    false
#define CONTROL                                                     false
#define ABORTS                                                      false
#define SESSION                                                     false
#define SESSION_ENDS                                                false
#define FROM_GROUP                                                  true
#define MPI_CALL(name, fortran, arguments, fortran_arguments, kind) kind,
#include "agent/boundary/mpi_calls.def"
#undef MPI_CALL
};

/* Calls that only ask whether something has arrived (polling.h). */
static const bool only_asks[RUNTIME_CALLS] = {
#undef WAITS
#undef PASSES
#undef POLLS
#define WAITS                                                       false
#define PASSES                                                      false
#define POLLS                                                       true
#define MPI_CALL(name, fortran, arguments, fortran_arguments, kind) kind,
#include "agent/boundary/mpi_calls.def"
#undef MPI_CALL
};

/* Returns false if a signal handler may make the call, perhaps while the program is in malloc. */
static inline bool is_safe(enum runtime_call call)
{
	return call < THREAD_wait || call > THREAD_wait4;
}

static __attribute__((hot)) FLOAT_ENV_COMPUTES void end_burst(struct preload_thread *slot,
		enum runtime_call call, void *site, const void *frame)
{
	struct thread *thread = threads_in_slot(slot);
	uint64_t now, begin;

	if (!threads_is_observed(thread))
		return;
	now = clock_now();
	if (__builtin_expect(thread->resting.since, 0))
		resting_end(thread, now);
	delimit_look_return(thread, &core.rules, now);
	begin = reading_stop(thread, &core.rules, now);
	thread->call.path = path_find(&thread->sites.paths, (uintptr_t)site, frame);
	thread->call.entered = now;
	thread->skip->nests = false;
	thread->polling.asks = only_asks[call];
	structure_note(thread, slot, call);
	delimit_end(thread, &core.rules, call, now);
	if (thread_is_timed(thread)) {
		service_end_calm(thread, now);
		thread_account_hook(thread, &core.rules, clock_now() - begin);
	}
	if (__builtin_expect(now >= thread->call.service_due, 0) &&
			(call >= MPI_CALLS || waits[call]) && is_safe(call))
		service_thread(thread, now);
}

static __attribute__((hot)) void before(struct preload_thread *slot, enum runtime_call call,
		void *site, const void *frame)
{
	struct float_env kept = float_env_hold();

	end_burst(slot, call, site, frame);
	float_env_release(kept);
}

/* Adds the call that returns now to the timeline. A burst is open if the agent did not see the call begin. */
static inline void time_call(struct thread *thread, uint64_t now, bool is_new)
{
	uint64_t entered = thread->call.entered;

	if (!is_new && !thread->burst.open && now > entered)
		timeline_add(&thread->timeline, TIMELINE_CALLS, entered, now, now - entered);
}

static __attribute__((hot)) FLOAT_ENV_COMPUTES void begin_burst(struct preload_thread *slot,
		enum runtime_call call, void *site, const void *frame)
{
	struct thread *thread = threads_in_slot(slot);
	bool is_new = false;
	uint64_t now, call_ticks, folded = 0;

	if (__builtin_expect(!thread, 0) && is_safe(call)) {
		threads_meet(slot);
		thread = slot->core;
		is_new = true;
	}
	if (!threads_is_observed(thread) || __builtin_expect(thread->resting.since, 0))
		return;
	/* before() has found the site of an MPI call; but a region may start only here */
	if (__builtin_expect(is_new || call >= MPI_CALLS, 0))
		thread->call.path = path_find(&thread->sites.paths, (uintptr_t)site, frame);
	if (is_new)
		thread->identity.born = thread->call.path;
	thread->polling.asked = only_asks[call];
	thread->polling.answered = only_asks[call] && slot->answered;
	now = clock_now();
	delimit_look_return(thread, &core.rules, now);
	call_ticks = call < MPI_CALLS && !is_new ? now - thread->call.entered : 0;
	site_add(&thread->counts.mpi_ticks, call_ticks);
	time_call(thread, now, is_new);
	/* the service is overdue, because no call that may wait was made for some time */
	if (__builtin_expect(now >= thread->call.service_due + core.rules.service_ticks, 0) &&
			is_safe(call)) {
		service_thread(thread, now);
		now = clock_now();
	}
	/* before counters are read, so that the burst does not contain it */
	if (!only_asks[call]) {
		leads_look(thread, call, now);
		structure_call(thread, site_find(&thread->sites, thread->call.path, call),
				call_ticks);
	}
	/* not a part of the read, whose cost is counted by itself */
	if (thread_is_timed(thread)) {
		folded = clock_now() - now;
		now += folded;
	}
	if (__builtin_expect(thread->resting.wanted, 0) && now >= thread->resting.due) {
		resting_begin(thread, now);
		return;
	}
	delimit_begin(thread, &core.rules, call, now);
	/* no call is skipped if a rest is due soon, because it must be known what began before the rest */
	if (skipping_windows(thread, &core.rules) && call < MPI_CALLS && !thread->resting.wanted)
		skipping_after(thread, &core.rules, site, frame, waits[call], call_ticks);
	/* the cost of a read is counted separately, and the burst starts after it */
	if (thread_is_timed(thread))
		thread_account_hook(thread, &core.rules,
				folded + clock_now() - thread->call.burst_begin);
	thread_count_untimed(thread);
}

static __attribute__((hot)) void after(struct preload_thread *slot, enum runtime_call call,
		void *site, const void *frame)
{
	struct float_env kept = float_env_hold();

	begin_burst(slot, call, site, frame);
	float_env_release(kept);
}

static FLOAT_ENV_COMPUTES void begin_burst_answered(struct preload_thread *slot,
		enum runtime_call call, void *site, const void *frame)
{
	struct thread *thread = threads_in_slot(slot);
	uint64_t now = clock_now();

	if (!threads_is_observed(thread))
		return;
	delimit_look_return(thread, &core.rules, now);
	if (!skipping_answered(thread, &core.rules, now))
		return;
	thread->call.path = path_find(&thread->sites.paths, (uintptr_t)site, frame);
	thread->polling.asked = thread->polling.answered = true;
	delimit_begin(thread, &core.rules, call, now);
}

static void answered(struct preload_thread *slot, enum runtime_call call, void *site,
		const void *frame)
{
	struct float_env kept = float_env_hold();

	begin_burst_answered(slot, call, site, frame);
	float_env_release(kept);
}

static FLOAT_ENV_COMPUTES void do_control(struct preload_thread *slot, int level,
		enum runtime_call call, void *site, const void *frame)
{
	int state = cancellation_hold();
	struct thread *thread = threads_of_slot(slot);

	if (getpid() == core.process.pid) {
		if (thread && !control_is_paused())
			end_burst(slot, call, site, frame);
		control_level(level);
	}
	cancellation_release(state);
}

/* Handles MPI_Pcontrol(level). */
static void control(struct preload_thread *slot, int level, enum runtime_call call, void *site,
		const void *frame)
{
	struct float_env kept = float_env_hold();

	do_control(slot, level, call, site, frame);
	float_env_release(kept);
}

/* Keeps what is known of the calling thread in the spool, because the run is about to be aborted. */
static FLOAT_ENV_COMPUTES void keep_all(struct preload_thread *slot, void *site, const void *frame)
{
	struct thread *thread = threads_of_slot(slot);
	int state;

	if (!thread || getpid() != core.process.pid)
		return;
	state = cancellation_hold();
	toggle_stop();
	control_stop();
	end_burst(slot, MPI_CALL_Abort, site, frame);
	drain_thread(thread, clock_now());
	log_speaker(true);
	if (core.spool) {
		storage_say_recover("aborted; ");
		log_wait_read();
	}
	cancellation_release(state);
}

static void aborts(struct preload_thread *slot, void *site, const void *frame)
{
	struct float_env kept = float_env_hold();

	keep_all(slot, site, frame);
	float_env_release(kept);
}

const struct preload_hooks hooks = {
	.before = before,
	.after = after,
	.answered = answered,
	.control = control,
	.aborts = aborts,
	.finalize = finalize_hook,
	.leave = finalize_leave,
	.leave_thread = alone_leave_for_call,
	.return_thread = alone_return,
	.first_ends = threads_first_ends,
};
