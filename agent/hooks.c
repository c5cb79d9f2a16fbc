/* SPDX-License-Identifier: BSD-3-Clause */
/* The hooks, which the preload calls at the boundaries of bursts, and the threads that it calls them on. */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <urcu-bp.h>

#include "agent/budget.h"
#include "agent/control.h"
#include "agent/core.h"
#include "agent/crowd.h"
#include "agent/delimit.h"
#include "agent/drain.h"
#include "agent/ending.h"
#include "agent/forked.h"
#include "agent/log.h"
#include "agent/reading.h"
#include "agent/rest_estimate.h"
#include "agent/resting.h"
#include "agent/service.h"
#include "agent/skipping.h"
#include "agent/toggle.h"
#include "agent/watcher.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"
#include "sampling/path.h"

/* ---- threads ---- */

/*
 * Returns a new thread, or NULL if there is no memory. Each of its events has a page of the kernel. If the
 * process has too many of these pages (CORE_EVENT_BYTES), the thread has none, and is read by system calls.
 */
static struct thread *open_thread(pid_t tid, unsigned index)
{
	size_t most = 0;
	struct thread *thread;
	bool save_pages;

	for (unsigned g = 0; g < core.rules.groups; g++)
		most += core.rules.counts[g] * (size_t)sysconf(_SC_PAGESIZE);
	/* many threads often start at once: each reserves first what it may take */
	save_pages = atomic_fetch_add_explicit(&core.event_bytes, most, memory_order_relaxed) >=
			CORE_EVENT_BYTES;
	thread = thread_new(&core.rules, tid, core.counting.pmu, core.counting.event,
			&core.counting.plan, (uint64_t)core.world.rank + index,
			save_pages ? READ_SYSCALL : core.counting.probe.method, save_pages);
	atomic_fetch_sub_explicit(&core.event_bytes, most - (thread ? thread->event_bytes : 0),
			memory_order_relaxed);
	return thread;
}

static void close_thread(struct thread *thread)
{
	thread_close(thread);
	atomic_fetch_sub_explicit(&core.event_bytes, thread->event_bytes, memory_order_relaxed);
	thread->event_bytes = 0;
}

/* The `core` of a slot points to it if the thread is not observed. */
static char unobserved;

/*
 * Makes the calling thread's place available, except that of the thread which speaks MPI. Calls of the
 * program's destructors, which may follow, are not observed.
 */
static void leave_place(struct thread *thread)
{
	*thread->slot = (struct preload_thread){ .core = &unobserved,
		.rest = { .until = REST_ENDLESS } };
	if (thread_is_open(thread) || thread->event_bytes)
		close_thread(thread);
	thread_end_life(thread, clock_now() - core.start);
	if (!thread->main)
		crowd_give(thread);
}

static void thread_ends(void *data)
{
	bool first;
	struct thread *thread = forked_thread(data, &first);

	if (getpid() != core.pid)
		return;
	/* the C library ends the process with its last thread, which must not be one of the agent */
	if (first || thread->main) {
		watcher_stop();
		toggle_stop();
	}
	if (!thread)
		return;
	if (thread->resting.since)
		rest_end(thread, clock_now());
	if (!atomic_load_explicit(&core.rules.finished, memory_order_acquire)) {
		if (thread->open) {
			thread_stop_counting(thread, &core.rules, clock_now());
			thread->at = thread->born;
			thread_end_burst(thread, &core.rules, THREAD_pthread_create, clock_now());
		}
		rest_estimate_finish(thread, clock_now());
		drain_ended_thread(thread);
	}
	leave_place(thread);
}

void hooks_thread_ends(void *data)
{
	int state = cancellation_hold();

	thread_ends(data);
	cancellation_release(state);
}

/* Says once in a process why threads are not counted or not kept. */
static void say_trouble(const struct thread *thread)
{
	static atomic_flag counters = ATOMIC_FLAG_INIT, spool = ATOMIC_FLAG_INIT;

	if (thread->open_error && !atomic_flag_test_and_set(&counters))
		log_line("counters of a thread cannot be opened: %s",
				strerror(-thread->open_error));
	if (core.spool && thread->spooled < 0 && !atomic_flag_test_and_set(&spool))
		log_line("%s: no room for a thread: %s", core.spool_folder,
				strerror(-thread->spooled));
}

static struct thread *new_place(pid_t tid)
{
	unsigned index = atomic_load_explicit(&core.thread_count, memory_order_relaxed);
	struct thread *thread;

	do
		if (index >= core.settings.threads)
			return NULL;
	while (!atomic_compare_exchange_weak_explicit(&core.thread_count, &index, index + 1,
			memory_order_relaxed, memory_order_relaxed));
	thread = open_thread(tid, index);
	if (index == 0)
		counting_let_go(&core.counting);
	if (!thread)
		return NULL;
	if (ledger_admit(core.ledger, thread)) {
		close_thread(thread);
		thread_free(thread);
		return NULL;
	}
	say_trouble(thread);
	if (!tid)
		rcu_register_thread();
	return thread;
}

static void publish(struct thread *thread)
{
	struct thread *newest = atomic_load_explicit(&core.threads, memory_order_relaxed);

	do
		thread->next = newest;
	/* pairs with the acquire in core_threads: publishes the thread */
	while (!atomic_compare_exchange_weak_explicit(&core.threads, &newest, thread,
			memory_order_release, memory_order_relaxed));
}

struct thread *hooks_adopt(pid_t tid, struct preload_thread *slot)
{
	struct thread *vacant = crowd_take(), *thread = vacant ? vacant : new_place(tid);

	if (!thread)
		return NULL;
	/* the thread that ends the run reads the place, and it drains all places after it has set `finished` */
	thread_hold(thread);
	if (vacant && atomic_load_explicit(&core.rules.finished, memory_order_acquire)) {
		thread_let_go(vacant);
		return NULL;
	}
	if (vacant)
		thread_renew(vacant, &core.rules);
	path_init(&thread->sites.paths, tid ? core.main_thread : pthread_self());
	if (!tid)
		pthread_setspecific(core.thread_ends, thread);
	thread_keep_budget(thread, &core.rules, clock_now() - core.start);
	thread->slot = slot;
	slot->passed.place = thread->places;
	thread->passed = &slot->passed;
	thread->main = tid || pthread_equal(pthread_self(), core.main_thread);
	thread_let_go(thread);
	if (!vacant)
		publish(thread);
	return thread;
}

/* ---- the boundaries of bursts ---- */

static __attribute__((noinline)) void meet(struct preload_thread *slot)
{
	uint64_t begin = clock_now();
	int kept = errno, state = cancellation_hold();
	bool is_ours = watcher_is_me();
	struct thread *thread = is_ours ? NULL : hooks_adopt(0, slot);

	if (thread)
		service_account(thread, clock_now() - begin, 0);
	else if (!is_ours)
		crowd_leave_out(slot);
	slot->core = thread ? (void *)thread : &unobserved;
	if (thread && thread->main)
		control_start();
	if (!thread)
		slot->rest.until = REST_ENDLESS;
	cancellation_release(state);
	errno = kept;
}

/* pairs with the release in observe_first (forked.c), by which the watcher fills the slot of another thread */
static inline void *in_slot(struct preload_thread *slot)
{
	return __atomic_load_n(&slot->core, __ATOMIC_ACQUIRE);
}

static inline bool is_observed(const void *thread)
{
	return __builtin_expect(thread && thread != &unobserved, 1);
}

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
#include "agent/mpi_calls.def"
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
#include "agent/mpi_calls.def"
#undef MPI_CALL
};

/* Returns false if a signal handler may make the call, perhaps while the program is in malloc. */
static inline bool is_safe(enum runtime_call call)
{
	return call < THREAD_wait || call > THREAD_wait4;
}

static __attribute__((hot)) void before(struct preload_thread *slot, enum runtime_call call,
		void *site, const void *frame)
{
	struct thread *thread = in_slot(slot);
	uint64_t now, begin;

	if (!is_observed(thread))
		return;
	now = clock_now();
	if (__builtin_expect(thread->resting.since, 0))
		rest_end(thread, now);
	thread_look_return(thread, &core.rules, now);
	begin = thread_stop_counting(thread, &core.rules, now);
	thread->at = path_find(&thread->sites.paths, (uintptr_t)site, frame);
	thread->entered = now;
	thread->passed->nests = false;
	thread->polling.asks = only_asks[call];
	thread_end_burst(thread, &core.rules, call, now);
	if (thread_is_timed(thread)) {
		service_end_calm(thread, now);
		thread_account_hook(thread, &core.rules, clock_now() - begin);
	}
	if (__builtin_expect(now >= thread->service_at, 0) && (call >= MPI_CALLS || waits[call]) &&
			is_safe(call))
		service_thread(thread, now);
}

static __attribute__((hot)) void after(struct preload_thread *slot, enum runtime_call call,
		void *site, const void *frame)
{
	struct thread *thread = in_slot(slot);
	bool is_new = false;
	uint64_t now, call_ticks;

	if (__builtin_expect(!thread, 0) && is_safe(call)) {
		meet(slot);
		thread = slot->core;
		is_new = true;
	}
	if (!is_observed(thread) || __builtin_expect(thread->resting.since, 0))
		return;
	/* before() has found the site of an MPI call; but a region may start only here */
	if (__builtin_expect(is_new || call >= MPI_CALLS, 0))
		thread->at = path_find(&thread->sites.paths, (uintptr_t)site, frame);
	if (is_new)
		thread->born = thread->at;
	thread->polling.asked = only_asks[call];
	thread->polling.answered = only_asks[call] && slot->answered;
	now = clock_now();
	thread_look_return(thread, &core.rules, now);
	call_ticks = call < MPI_CALLS && !is_new ? now - thread->entered : 0;
	site_add(&thread->counts.mpi_ticks, call_ticks);
	/* the service is overdue, because no call that may wait was made for some time */
	if (__builtin_expect(now >= thread->service_at + core.rules.service_ticks, 0) &&
			is_safe(call)) {
		service_thread(thread, now);
		now = clock_now();
	}
	if (__builtin_expect(thread->resting.wanted, 0) && now >= thread->resting.due) {
		rest_begin(thread, now);
		return;
	}
	thread_begin_burst(thread, &core.rules, call, now);
	/* no call is skipped if a rest is due soon, because it must be known what began before the rest */
	if (thread_passes(thread, &core.rules) && call < MPI_CALLS && !thread->resting.wanted)
		passed_after(thread, &core.rules, site, frame, waits[call], call_ticks);
	/* the cost of a read is counted separately, and the burst starts after it */
	if (thread_is_timed(thread))
		thread_account_hook(thread, &core.rules, clock_now() - thread->begin);
	thread_count_untimed(thread);
}

static void answered(struct preload_thread *slot, enum runtime_call call, void *site,
		const void *frame)
{
	struct thread *thread = in_slot(slot);
	uint64_t now = clock_now();

	if (!is_observed(thread))
		return;
	thread_look_return(thread, &core.rules, now);
	if (!passed_answered(thread, &core.rules, now))
		return;
	thread->at = path_find(&thread->sites.paths, (uintptr_t)site, frame);
	thread->polling.asked = thread->polling.answered = true;
	thread_begin_burst(thread, &core.rules, call, now);
}

struct thread *hooks_thread(struct preload_thread *slot)
{
	struct thread *thread = in_slot(slot);

	return is_observed(thread) ? thread : NULL;
}

/* Handles MPI_Pcontrol(level). */
static void control(struct preload_thread *slot, int level, enum runtime_call call, void *site,
		const void *frame)
{
	int state = cancellation_hold();
	struct thread *thread = hooks_thread(slot);

	if (getpid() == core.pid) {
		if (thread && !control_is_paused())
			before(slot, call, site, frame);
		control_level(level);
	}
	cancellation_release(state);
}

/* Keeps what is known of the calling thread in the spool, because the run is about to be aborted. */
static void aborts(struct preload_thread *slot, void *site, const void *frame)
{
	struct thread *thread = hooks_thread(slot);
	int state;

	if (!thread || getpid() != core.pid)
		return;
	state = cancellation_hold();
	toggle_stop();
	control_stop();
	before(slot, MPI_CALL_Abort, site, frame);
	drain_thread(thread, clock_now());
	log_speaker(true);
	if (core.spool) {
		log_line("aborted; phasemux recover %s makes the report", core.spool_folder);
		log_wait_read();
	}
	cancellation_release(state);
}

const struct preload_hooks hooks = {
	.before = before,
	.after = after,
	.answered = answered,
	.control = control,
	.aborts = aborts,
	.finalize = ending_hook,
	.leave = ending_leave,
};
