/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/threads.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <urcu-bp.h>

#include "agent/bursts/budget.h"
#include "agent/bursts/delimit.h"
#include "agent/bursts/reading.h"
#include "agent/bursts/rest_estimate.h"
#include "agent/bursts/resting.h"
#include "agent/bursts/structure.h"
#include "agent/leads/leads.h"
#include "agent/core/core.h"
#include "agent/core/crowd.h"
#include "agent/core/drain.h"
#include "agent/core/toggle.h"
#include "agent/core/helper.h"
#include "agent/host/float_env.h"
#include "agent/host/log.h"
#include "agent/process/control.h"
#include "agent/process/service.h"
#include "agent/region/region.h"
#include "agent/thread/path.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"

/* Size of the kernel's pages for events in all threads, from which new threads have none. */
#define EVENT_BYTES_MAX (128 << 10)

char threads_unobserved;

static bool is_started; /* core.threads.end_key and the crowd's lists exist */

/* The first thread of a forked child, once it is observed. */
static _Atomic(struct thread *) first_thread;

/* The value of core.threads.end_key of a child's first thread is the address of this. */
static char first_thread_ends;

/*
 * Returns the calling thread, or NULL if it is not observed. *first: it is a forked child's first thread, whose
 * value of core.threads.end_key does not change when it is observed. data: that value. No more follows from it,
 * because another C library in the process (dlmopen) numbers its own keys from 0 and writes to the same values.
 */
static struct thread *calling_thread(const void *data, bool *first)
{
	*first = data == &first_thread_ends;
	/* pairs with the release in threads_publish_first */
	return *first ? atomic_load_explicit(&first_thread, memory_order_acquire) :
			threads_of_slot(core.preload->own_slot());
}

/*
 * Returns a new thread, or NULL if there is no memory. Each of its events has a page of the kernel. If the
 * process has too many of these pages (EVENT_BYTES_MAX), the thread has none, and is read by system calls.
 */
static struct thread *open_thread(pid_t tid, unsigned index)
{
	struct thread_spec spec = {
		.tid = tid,
		.place = (uint64_t)core.world.rank + index,
		.pmu = core.counting.pmu,
		.events = core.counting.event,
		.plan = &core.counting.plan,
	};
	size_t most = 0;
	struct thread *thread;

	for (unsigned g = 0; g < core.rules.groups; g++)
		most += core.rules.counts[g] * (size_t)sysconf(_SC_PAGESIZE);
	/* many threads often start at once: each reserves first what it may take */
	spec.save_pages = atomic_fetch_add_explicit(&core.threads.event_bytes, most,
					  memory_order_relaxed) >= EVENT_BYTES_MAX;
	spec.method = spec.save_pages ? READ_SYSCALL : core.counting.probe.method;
	thread = thread_new(&core.rules, &spec);
	atomic_fetch_sub_explicit(&core.threads.event_bytes,
			most - (thread ? thread->counters.event_bytes : 0), memory_order_relaxed);
	return thread;
}

static void close_thread(struct thread *thread)
{
	thread_close(thread);
	atomic_fetch_sub_explicit(&core.threads.event_bytes, thread->counters.event_bytes,
			memory_order_relaxed);
	thread->counters.event_bytes = 0;
}

/* Says once in a process why threads are not counted or not kept. */
static void say_trouble(const struct thread *thread)
{
	static atomic_flag counters = ATOMIC_FLAG_INIT, spool = ATOMIC_FLAG_INIT;

	if (thread->opening.error && !atomic_flag_test_and_set(&counters))
		log_line("counters of a thread cannot be opened: %s",
				strerror(-thread->opening.error));
	if (core.spool && thread->drain.spooled < 0 && !spool_is_shut_out(thread->drain.spooled) &&
			!atomic_flag_test_and_set(&spool))
		log_line("%s: no room for a thread: %s", core.spool_folder,
				strerror(-thread->drain.spooled));
}

static struct thread *new_place(pid_t tid)
{
	unsigned index = atomic_load_explicit(&core.threads.count, memory_order_relaxed);
	struct thread *thread;

	do
		if (index >= core.settings.threads)
			return NULL;
	while (!atomic_compare_exchange_weak_explicit(&core.threads.count, &index, index + 1,
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

/* Gives the main thread a region. Without memory, the report says that the rank has recorded nothing. */
static void open_region(struct thread *thread)
{
	const struct region_setup setup = { .folder = core.result_folder,
		.host = core.host,
		.counting = &core.counting,
		.run = core.run,
		.start = core.process.start,
		.rank = core.world.rank,
		.size = core.world.size };

	region_open(thread, &setup);
}

static void publish_thread(struct thread *thread)
{
	struct thread *newest = atomic_load_explicit(&core.threads.newest, memory_order_relaxed);

	do
		thread->next = newest;
	/* pairs with the acquire in core_threads: publishes the thread */
	while (!atomic_compare_exchange_weak_explicit(&core.threads.newest, &newest, thread,
			memory_order_release, memory_order_relaxed));
}

struct thread *threads_adopt(pid_t tid, struct preload_thread *slot)
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
	path_init(&thread->sites.paths, tid ? core.process.main_thread : pthread_self());
	if (!tid)
		pthread_setspecific(core.threads.end_key, thread);
	budget_keep(thread, &core.rules, clock_now() - core.process.start);
	thread->identity.slot = slot;
	slot->skip.place = thread->places;
	thread->skip = &slot->skip;
	thread->identity.main = tid || pthread_equal(pthread_self(), core.process.main_thread);
	/* without memory, the report says of how many ranks the structure is not known */
	if (thread->identity.main && core.settings.structure && !thread->structure.loops)
		structure_open(thread, core.settings.arguments ? core.adapter->arguments : NULL);
	/* without memory, the rank reads */
	if (thread->identity.main && thread->structure.loops && core.adapter &&
			(core.settings.leads != SETTINGS_LEADS_ALL || core.region) &&
			!thread->structure.leads)
		leads_open(thread, (uint32_t)core.world.rank, (uint32_t)core.world.size,
				core.reads_arguments ? core.adapter->arguments : NULL,
				core.preload->keep_arguments);
	if (thread->structure.leads && core.region && !thread->structure.region)
		open_region(thread);
	thread_let_go(thread);
	if (!vacant)
		publish_thread(thread);
	return thread;
}

void threads_meet(struct preload_thread *slot)
{
	uint64_t begin = clock_now();
	int kept = errno, state = cancellation_hold();
	bool is_ours = helper_is_me();
	struct thread *thread = is_ours ? NULL : threads_adopt(0, slot);

	if (thread)
		service_account(thread, clock_now() - begin, 0);
	else if (!is_ours)
		crowd_leave_out(slot);
	slot->core = thread ? (void *)thread : &threads_unobserved;
	if (thread && thread->identity.main)
		control_start();
	if (!thread)
		slot->rest.until = REST_ENDLESS;
	cancellation_release(state);
	errno = kept;
}

/*
 * Makes the calling thread's place available, except that of the thread which speaks MPI. Calls of the
 * program's destructors, which may follow, are not observed.
 */
static void leave_place(struct thread *thread)
{
	*thread->identity.slot = (struct preload_thread){ .core = &threads_unobserved,
		.rest = { .until = REST_ENDLESS } };
	if (thread_is_open(thread) || thread->counters.event_bytes)
		close_thread(thread);
	thread_end_life(thread, clock_now() - core.process.start);
	if (!thread->identity.main)
		crowd_give(thread);
}

static FLOAT_ENV_COMPUTES void end(void *data)
{
	bool first;
	struct thread *thread = calling_thread(data, &first);

	if (getpid() != core.process.pid)
		return;
	/* the C library ends the process with its last thread, which must not be one of the agent */
	if (first || (thread && thread->identity.main)) {
		helper_stop();
		toggle_stop();
	}
	if (!thread)
		return;
	if (thread->resting.since)
		resting_end(thread, clock_now());
	if (!atomic_load_explicit(&core.rules.finished, memory_order_acquire)) {
		if (thread->burst.open) {
			reading_stop(thread, &core.rules, clock_now());
			thread->call.path = thread->identity.born;
			delimit_end(thread, &core.rules, THREAD_pthread_create, clock_now());
		}
		rest_estimate_finish(thread, clock_now());
		drain_ended_thread(thread);
	}
	leave_place(thread);
}

/* Drains a thread and closes its counters, uncancelled. Destructor of core.threads.end_key. */
static void end_uninterrupted(void *data)
{
	struct float_env kept = float_env_hold();
	int state = cancellation_hold();

	end(data);
	cancellation_release(state);
	float_env_release(kept);
}

void threads_first_ends(void)
{
	end_uninterrupted(&first_thread_ends);
}

struct thread *threads_of_slot(struct preload_thread *slot)
{
	struct thread *thread = threads_in_slot(slot);

	return threads_is_observed(thread) ? thread : NULL;
}

struct thread *threads_calling(bool *first)
{
	*first = false;
	return is_started ? calling_thread(pthread_getspecific(core.threads.end_key), first) : NULL;
}

void threads_forget(void)
{
	atomic_store(&core.threads.newest, NULL);
	atomic_store(&core.threads.count, 0);
	atomic_store(&core.threads.event_bytes, 0);
	crowd_forget();
	atomic_store(&first_thread, NULL);
	pthread_setspecific(core.threads.end_key, &first_thread_ends);
}

void threads_publish_first(struct thread *thread)
{
	/* these pair with the acquires in calling_thread and in threads_in_slot */
	atomic_store_explicit(&first_thread, thread, memory_order_release);
	__atomic_store_n(&thread->identity.slot->core, thread, __ATOMIC_RELEASE);
}

int threads_start(void)
{
	if (pthread_key_create(&core.threads.end_key, end_uninterrupted))
		return -ENOMEM;
	if (crowd_start()) {
		pthread_key_delete(core.threads.end_key);
		return -ENOMEM;
	}
	is_started = true;
	return 0;
}

void threads_stop(void)
{
	if (!is_started)
		return;
	is_started = false;
	crowd_stop();
	pthread_key_delete(core.threads.end_key);
}
