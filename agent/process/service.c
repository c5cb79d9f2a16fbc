/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/process/service.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/bursts/budget.h"
#include "agent/bursts/rest_estimate.h"
#include "agent/bursts/resting.h"
#include "agent/bursts/switching.h"
#include "agent/core/core.h"
#include "agent/core/crowd.h"
#include "agent/core/drain.h"
#include "agent/ledger/training.h"
#include "agent/host/log.h"
#include "agent/iterations/iterations.h"
#include "agent/process/control.h"
#include "agent/region/region.h"
#include "sampling/cancellation.h"
#include "sampling/clock.h"

#define SERVICE_BUSY_NS 1000000  /* between two services while a round is under way */
#define SERVICE_CALM_NS 50000000 /* between two services in calm */
#define CALM_AFTER_NS   1e9      /* after the start, calm may begin */
#define CALM_CALLS      512      /* number of calls since the last service that ends calm */
#define LEFT_OUT_NS     1e9      /* between two updates of the time of unobserved threads */
#define SERVICE_NS_MAX  1e6      /* a service that takes longer without a training was preempted */

#define PAUSE_MAX_NS 100000000u /* longest time between two services of all threads */
#define BEGUN_NS     20e6 /* time after which the program has registered what it does at its exit */
#define REST_MAX_NS  500000000u /* longest rest of the helper */

/*
 * Returns whether services may be rare. A service in the midst of the program's work takes 10 to 20 us, even if
 * there is little to do.
 */
static bool is_calm(uint64_t now)
{
	double samples = core.rules.sample_ns ? SERVICE_CALM_NS / (double)core.rules.sample_ns : 0;

	/* the kernel has room for THREAD_SAMPLES until the next drain */
	return now - core.process.start > clock_ticks(CALM_AFTER_NS) &&
			samples < THREAD_SAMPLES / 2.0;
}

/* Keeps in the spool what belongs to the process and not to a thread. Works on the main thread only. */
static void keep_of_process(const struct thread *thread, uint64_t now)
{
	static uint64_t left_out_at;
	struct spool_side *side;

	if (!core.spool || !thread->identity.main)
		return;
	side = spool_side(core.spool);
	side->unobserved_ticks = thread->unobserved;
	side->paused = control_was_paused();
	if (now < left_out_at)
		return;
	crowd_left_out(&side->beyond_threads, &side->beyond_seconds);
	left_out_at = now + clock_ticks(LEFT_OUT_NS);
}

static void serve(struct thread *thread, uint64_t now)
{
	uint64_t pause = is_calm(now) ? SERVICE_CALM_NS : CORE_SERVICE_NS;
	double training = 0;

	if (!*core.process.mark) {
		core.preload->set_hooks(NULL);
		return;
	}
	drain_often(thread, now);
	keep_of_process(thread, now);
	/* with MPI, only the main thread makes steps; without it, any thread may, one at a time */
	if (core.adapter ? thread->identity.main : service_try_step()) {
		training = ledger_training_ns(core.ledger);
		exchange_step(core.exchange, core_threads(), now);
		training = ledger_training_ns(core.ledger) - training;
		if (exchange_busy(core.exchange))
			pause = SERVICE_BUSY_NS;
		if (!core.adapter)
			service_end_step();
	}
	budget_keep(thread, &core.rules, now - core.process.start - thread->unobserved);
	budget_learn_short(thread, &core.rules, now);
	iterations_look(thread, now - core.process.start - thread->unobserved);
	region_keep(thread);
	if (!region_holds(thread))
		resting_plan(thread, &core.rules, now - core.process.start - thread->unobserved,
				now);
	if (!thread->resting.wanted)
		rest_estimate_look(thread, now);
	thread->call.service_due = clock_next_multiple(pause);
	service_account(thread, clock_now() - now, training);
}

void service_thread(struct thread *thread, uint64_t now)
{
	int kept = errno, state = cancellation_hold();

	serve(thread, now);
	cancellation_release(state);
	errno = kept;
}

/* Returns the time in ns after which all threads need a service, so that no ring of samples runs full. */
static uint64_t all_pause(void)
{
	uint64_t ns = core.rules.sample_ns * (THREAD_SAMPLES / 4);

	return ns < PAUSE_MAX_NS ? ns : PAUSE_MAX_NS;
}

/* Changes groups within long bursts. Returns the time in ns after which to do so again, at most `most`. */
static uint64_t switch_groups(uint64_t most)
{
	for (struct thread *thread = core_threads(); thread && core.rules.switching;
			thread = thread->next) {
		uint64_t ns = switching_look(thread, &core.rules, clock_now());

		most = ns < most ? ns : most;
	}
	return most;
}

/* Returns whether `*due` has come, and then sets it to the next time. Call on the helper. */
static bool is_due(uint64_t *due)
{
	uint64_t now = clock_now();

	if (now < *due)
		return false;
	*due = now + clock_ticks((double)all_pause());
	return true;
}

uint64_t service_all_threads(void)
{
	static uint64_t due;

	if (is_due(&due)) {
		if (clock_now() - core.process.start > clock_ticks(BEGUN_NS))
			log_hold_at_exit();
		for (struct thread *thread = core_threads(); thread; thread = thread->next)
			drain_other_thread(thread, clock_now());
		if (service_try_step()) {
			do
				exchange_step(core.exchange, core_threads(), clock_now());
			while (exchange_busy(core.exchange));
			service_end_step();
		}
	}
	return switch_groups(all_pause());
}

uint64_t service_long_bursts(void)
{
	static uint64_t due;

	/*
	 * PHASEMUX_TOGGLE may drop the burst, of which nothing must have been added then. The thread itself keeps
	 * its counts in the spool: without its sites, a killed run would miss what they counted in the meantime.
	 */
	if (!(core.settings.toggle_ns > 0) && is_due(&due))
		for (struct thread *thread = core_threads(); thread; thread = thread->next)
			if (switching_lasts(thread, &core.rules, clock_now()))
				ledger_drain(core.ledger, thread);
	return switch_groups(REST_MAX_NS);
}

void service_end_calm(struct thread *thread, uint64_t now)
{
	uint64_t calls = atomic_load_explicit(&thread->counts.calls, memory_order_relaxed);

	if (calls - thread->budget.calls >= CALM_CALLS &&
			thread->call.service_due > now + core.rules.service_ticks)
		thread->call.service_due = clock_next_multiple(CORE_SERVICE_NS);
}

void service_account(struct thread *thread, uint64_t ticks, double training_ns)
{
	uint64_t training = clock_ticks(training_ns), most = clock_ticks(SERVICE_NS_MAX) + training;

	site_add(&thread->counts.service_ticks, ticks < most ? ticks : most);
}

bool service_try_step(void)
{
	pid_t none = 0;

	/* pairs with the release in service_end_step: this thread sees what the last step has done */
	return atomic_compare_exchange_strong_explicit(&core.stepping, &none,
			(pid_t)syscall(SYS_gettid), memory_order_acquire, memory_order_relaxed);
}

void service_end_step(void)
{
	/* pairs with the acquire in service_try_step: publishes what the step has done */
	atomic_store_explicit(&core.stepping, 0, memory_order_release);
}
