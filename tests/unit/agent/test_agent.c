/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the agent without MPI. The scripted work of threads goes through bursts, ring, ledger, rounds and sums,
 * and the result is compared with the truth. The test also runs under TSan, because drains, a publishing thread
 * and readers of its table run together here.
 */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "agent/bursts/budget.h"
#include "agent/bursts/delimit.h"
#include "agent/bursts/reading.h"
#include "agent/core/crowd.h"
#include "agent/ledger/ledger.h"
#include "agent/ledger/training.h"
#include "agent/rounds/exchange.h"
#include "agent/setup/counting.h"
#include "agent/thread/thread.h"
#include "sampling/clock.h"
#include "tests/pmu/scripted_inside.h"
#include "tests/pmu/scripted_pmu.h"
#include "tests/tap.h"

#define THREADS    3
#define BURSTS     3000 /* number for each thread */
#define WORK       1000000
#define SLOTS      8 /* slots per cycle of the processor that the scripted PMU assumes */
#define BEHAVIOURS 2
#define LIVES      20 /* number of threads of each place, one after the other */
#define LIVED      60 /* number of bursts of each of them */

static const char *const behaviour[BEHAVIOURS] = { "triad", "fma" };

static struct {
	struct counting counting;
	struct settings settings;
	struct thread_rules rules;
	struct ledger *ledger;
	struct exchange *exchange;
	struct thread *threads[THREADS];
	/* one site starts both behaviours; false: each has a site of its own */
	bool mixed_site;
} run;

/* Makes burst i of a thread, as the hooks would delimit it. */
static void one_burst(struct thread *thread, int i)
{
	int which = i % 3 == 0;
	/* any two addresses are valid call sites */
	uintptr_t start = 0x1000 + (run.mixed_site ? 0 : 16 * (uintptr_t)which);
	uintptr_t end = 0x2000 + 16 * (uintptr_t)which;
	uint64_t now;

	thread->call.path = path_find(&thread->sites.paths, start, NULL);
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	scripted_pmu_work(behaviour[which], WORK);
	now = clock_now();
	reading_stop(thread, &run.rules, now);
	thread->call.path = path_find(&thread->sites.paths, end, NULL);
	delimit_end(thread, &run.rules, MPI_CALL_Recv, now);
}

/* Opens the counters of the calling thread. place: its number in the scheme. */
static struct thread *new_thread(uint64_t place)
{
	const struct thread_spec spec = {
		.place = place,
		.pmu = run.counting.pmu,
		.events = run.counting.event,
		.plan = &run.counting.plan,
		.method = run.counting.probe.method,
	};

	return thread_new(&run.rules, &spec);
}

static void *thread_main(void *data)
{
	int index = (int)(intptr_t)data;
	struct thread *thread = new_thread((uint64_t)index);

	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		return NULL;
	run.threads[index] = thread;
	for (int i = 0; i < BURSTS; i++) {
		one_burst(thread, i);
		if (i % 64 == 63)
			ledger_drain(run.ledger, thread);
		if (index == 0 && i % 32 == 31)
			exchange_step(run.exchange, thread, clock_now());
	}
	ledger_drain(run.ledger, thread);
	thread_close(thread);
	return NULL;
}

static void start(const char *scheme, double pay)
{
	struct counting_limits limits;
	char why[256] = "";

	memset(&run.rules, 0, sizeof(run.rules));
	memset(run.threads, 0, sizeof(run.threads));
	settings_defaults(&run.settings);
	/* a busy machine makes some bursts long, and then others would be short */
	run.settings.burst_min_ns = 0;
	if (counting_look(&run.counting, "auto", SCRIPTED_PMU_PATH, why, sizeof(why)))
		diag("%s", why);
	counting_limits(&run.counting, &limits);
	counting_settle(&run.counting, &limits);
	run.rules.scheme = (struct scheme){ .kind = (enum scheme_kind)scheme_by_name(scheme),
		.groups = run.counting.plan.groups,
		.seed = 1 };
	run.rules.groups = run.counting.plan.groups;
	for (unsigned g = 0; g < run.rules.groups; g++)
		run.rules.counts[g] = run.counting.plan.group[g].count;
	run.rules.pay = pay;
	run.rules.quantum_bursts = 10;
	run.ledger = ledger_new(&run.counting, &run.rules, &run.settings, 0, 1, NULL);
	run.exchange = exchange_new(NULL, NULL, run.ledger, 0, INFINITY, clock_now());
}

static struct totals *finish(void)
{
	pthread_t thread[THREADS];
	struct thread *all = NULL;
	struct ledger_piece pieces[LEDGER_PIECES];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, thread_main, (void *)(intptr_t)i);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(thread[i], NULL);
		if (run.threads[i]) {
			run.threads[i]->next = all;
			all = run.threads[i];
		}
	}
	atomic_store(&run.rules.finished, true);
	exchange_meet(run.exchange);
	exchange_finish(run.exchange, all);
	return ledger_close(run.ledger, all, pieces);
}

/* Finds the phase of a behaviour by its cycles for WORK instructions. */
static bool find_phase(int which, struct phase_estimate *found)
{
	const struct prototype_table *table = ledger_table(run.ledger);
	double cycles = scripted_rate(PERF_TYPE_RAW, 0x76,
					(unsigned)scripted_behaviour_number(behaviour[which]),
					SLOTS) *
			WORK / 1000;

	for (uint32_t number = 1; number <= table->phases; number++) {
		bool member[PROTOTYPES_MAX];

		for (uint32_t p = 0; p < PROTOTYPES_MAX; p++)
			member[p] = p < table->count && table->all[p].phase == number;
		estimate_phase(ledger_sums(run.ledger), member, NULL, found);
		if (found->read > BURSTS / 100 && fabs(found->event[0].mean / cycles - 1) < 0.01)
			return true;
	}
	return false;
}

static void check_counters(const char *name)
{
	for (int which = 0; which < BEHAVIOURS; which++) {
		unsigned number = (unsigned)scripted_behaviour_number(behaviour[which]);
		struct phase_estimate phase;
		unsigned right = 0;

		if (!ok(find_phase(which, &phase), "%s: %s is a phase", name, behaviour[which]))
			continue;
		for (unsigned e = 0; e < run.counting.plan.events; e++) {
			const struct event *event = &run.counting.event[e];
			double truth = scripted_rate(event->type, event->config, number, SLOTS) *
					WORK / 1000;
			/* a read counts a few instructions of its own */
			bool good = phase.event[e].observed > 0 &&
					fabs(phase.event[e].mean - truth) < 1e-3 * truth + 200;

			right += good;
			if (!good)
				diag("%s: %g, truth %g", event->name, phase.event[e].mean, truth);
		}
		is_int(right, run.counting.plan.events, "every counter has its true value");
	}
}

static void check_accounts(const struct totals *totals, const char *name)
{
	double seconds = totals->unclassified.seconds + totals->shorts.seconds;
	double bursts = totals->unclassified.bursts + totals->shorts.bursts;
	bool everything[PROTOTYPES_MAX];
	struct phase_estimate read;

	for (unsigned p = 0; p < PROTOTYPES_MAX; p++) {
		everything[p] = true;
		seconds += totals->unread.prototype[p].seconds;
		bursts += totals->unread.prototype[p].bursts;
	}
	estimate_phase(ledger_sums(run.ledger), everything, NULL, &read);
	ok(totals->compute.bursts == THREADS * BURSTS, "%s: no burst is missing", name);
	is_near(bursts + (double)read.read, totals->compute.bursts, 0.5,
			"phases, unclassified and short bursts are all bursts");
	is_near((seconds + read.seconds) / totals->compute.seconds, 1, 1e-9,
			"and all of the computing time");
}

static const struct {
	const char *name, *scheme;
	double pay; /* probability of a read per tick */
	bool mixed_site;
} cases[] = {
	{ "every burst read", "time-space", 1e18, false },
	{ "random groups", "random", 1e18, false },
	{ "adaptive groups", "adaptive", 1e18, false },
	{ "some bursts read", "time-space", 1e-5, false },
	{ "two behaviours at one site", "time-space", 1e-5, true },
};

/* A clock is set back, or differs between processors. */
static void test_time_goes_back(void)
{
	struct account account;
	struct thread *thread;

	start("time-space", 1e18);
	thread = new_thread(0);
	if (!thread || ledger_admit(run.ledger, thread)) {
		ok(false, "a thread");
		return;
	}
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	scripted_pmu_work("triad", WORK);
	reading_stop(thread, &run.rules, clock_now());
	delimit_end(thread, &run.rules, MPI_CALL_Recv, thread->call.burst_begin - 1000000);
	ledger_drain(run.ledger, thread);
	thread_account(thread, &account);
	is_near(account.bursts, 1, 0, "a burst that ends before it began is a burst");
	is_near(account.ticks, 0, 0, "of no time");
	thread_close(thread);
	thread_free(thread);
	exchange_free(run.exchange);
	ledger_free(run.ledger);
	counting_fini(&run.counting);
}

/*
 * Returns the first counter's value in a burst whose counter runs ten times as fast as time. ns: receives the
 * burst's length. times: a bit for each event that counts time.
 */
static double first_value(uint32_t times, double *ns)
{
	struct thread *thread;
	const struct burst *burst;
	double value = -1;

	start("none", 1e18);
	run.rules.times[0] = times;
	thread = new_thread(0);
	if (!thread)
		return -1;
	one_burst(thread, 0);
	burst = ring_peek(&thread->ring);
	if (burst) {
		value = (double)burst->values[0];
		*ns = clock_ns(burst->ticks);
	}
	thread_close(thread);
	thread_free(thread);
	exchange_free(run.exchange);
	ledger_free(run.ledger);
	counting_fini(&run.counting);
	return value;
}

/* No thread runs for longer than its burst lasts, but it may have more cycles. */
static void test_bounds_times(void)
{
	double ns = 0, value;

	scripted_pmu_configure("spin=0.1");
	value = first_value(0, &ns);
	ok(value > ns, "a counter may count more than nanoseconds (%g in %g ns)", value, ns);
	value = first_value(1, &ns);
	ok(value > 0.9 * ns && value <= ns, "but a time is at most the burst's (%g in %g ns)",
			value, ns);
	scripted_pmu_configure("spin=0.05");
}

/* A thread that the agent first meets while the agent is off has no unobserved time before that. */
static void test_returns_at_once(void)
{
	static const struct plan nothing = { .groups = 1 };
	struct thread_rules rules = { .groups = 1, .scheme = { .groups = 1 } };
	struct skip skips = { .left = 0 };
	uint64_t before = clock_now();
	struct thread *thread = thread_new(&rules, &(struct thread_spec){ .plan = &nothing });

	if (!thread) {
		ok(false, "a thread");
		return;
	}
	skips.place = thread->places;
	thread->skip = &skips;
	delimit_return(thread, 1, clock_now());
	ok(thread->unobserved <= clock_now() - before,
			"a thread that is first met while the agent is off was not off before (%g s)",
			clock_ns(thread->unobserved) * 1e-9);
	thread_close(thread);
	thread_free(thread);
}

/* All work for a thread comes out of one budget. If it is used up, fewer bursts are read. */
static void test_keeps_budget(void)
{
	uint64_t second = clock_ticks(1e9);
	struct thread *thread;
	double spent;

	start("time-space", 1e-5);
	run.rules.allowed = 0.01;
	run.rules.fixed_ticks = 0.01 * (double)second;
	run.rules.read_ticks = 1e-6 * (double)second;
	thread = new_thread(0);
	if (!thread) {
		ok(false, "a thread");
		return;
	}
	budget_keep(thread, &run.rules, second / 2);
	ok(thread->budget.pay > 0 && thread->budget.pay < run.rules.pay,
			"while the start is over the budget, fewer bursts are read, but some");
	budget_keep(thread, &run.rules, 2 * second);
	is_near(thread->budget.pay, run.rules.pay, 0, "then as many as the budget has for reads");
	site_add(&thread->counts.reads, 15000);
	site_add(&thread->counts.read_ticks, (uint64_t)(15000 * run.rules.read_ticks));
	budget_keep(thread, &run.rules, 2 * second);
	ok(thread->budget.pay < run.rules.pay, "fewer, when reads have cost more than they should");
	budget_keep(thread, &run.rules, 4 * second);
	is_near(thread->budget.pay, run.rules.pay, 0, "until the budget covers that");
	site_add(&thread->counts.read_ticks, (uint64_t)(15000 * run.rules.read_ticks));
	budget_keep(thread, &run.rules, 8 * second);
	is_near(thread->budget.pay, run.rules.pay / 2, 1e-6 * run.rules.pay,
			"half as many, when each takes twice as long");
	run.rules.call_ticks = 100;
	spent = thread_own_ticks(thread, &run.rules);
	thread_account_hook(thread, &run.rules, 300);
	is_near(thread_own_ticks(thread, &run.rules) - spent, 300.0 * THREAD_CALLS_TIMED, 1,
			"a hook that is timed stands for those that are not");
	thread_account_hook(thread, &run.rules, second);
	ok(thread_own_ticks(thread, &run.rules) - spent < 100.0 * 100 * THREAD_CALLS_TIMED,
			"but not if it was delayed");
	site_add(&thread->counts.service_ticks, second);
	thread->budget.pay = run.rules.pay;
	run.rules.allowed = 0;
	budget_keep(thread, &run.rules, 4 * second);
	is_near(thread->budget.pay, run.rules.pay, 0, "without a budget, all");
	thread_close(thread);
	thread_free(thread);
	exchange_free(run.exchange);
	ledger_free(run.ledger);
	counting_fini(&run.counting);
}

/* Adds `ticks` ticks of computing in bursts of length_ns. */
static void computes(struct thread *thread, double length_ns, uint64_t ticks)
{
	thread_add_bursts(thread, 1, clock_ticks(length_ns), ticks);
}

/* A thread does not wait for a round to learn that its bursts have become shorter. */
static void test_learns_short(void)
{
	uint64_t second = clock_ticks(1e9), now;
	struct thread *thread;

	start("time-space", 1e18);
	thread = new_thread(0);
	if (!thread) {
		ok(false, "a thread");
		return;
	}
	run.rules.burst_min_given = false;
	/* as after a round in which bursts took 300 ms */
	atomic_store(&run.rules.burst_min, clock_ticks(150e6));
	now = clock_now();
	computes(thread, 300e6, 3 * second);
	budget_learn_short(thread, &run.rules, now += 3 * second);
	ok(thread->burst_min <= clock_ticks(150e6) && thread->burst_min > clock_ticks(100e6),
			"as long as all ranks say (%g ms)", clock_ns(thread->burst_min) * 1e-6);
	computes(thread, 3e6, second / 10);
	budget_learn_short(thread, &run.rules, now += second / 10);
	ok(thread->burst_min <= clock_ticks(1.5e6) && thread->burst_min > clock_ticks(0.7e6),
			"bursts of 3 ms are not short a tenth of a second after they came (%g ms)",
			clock_ns(thread->burst_min) * 1e-6);
	computes(thread, 300e6, 20 * second);
	budget_learn_short(thread, &run.rules, now += 20 * second);
	ok(thread->burst_min > clock_ticks(100e6), "but when they have long been gone (%g ms)",
			clock_ns(thread->burst_min) * 1e-6);
	run.rules.burst_min_given = true;
	computes(thread, 3e6, 9 * second);
	budget_learn_short(thread, &run.rules, now + 9 * second);
	ok(thread->burst_min == clock_ticks(150e6), "a limit that the user has set stays");
	run.rules.burst_min_given = false;
	thread_close(thread);
	thread_free(thread);
	exchange_free(run.exchange);
	ledger_free(run.ledger);
	counting_fini(&run.counting);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* A program has more pairs of call sites than there is room for. */
static void test_sites_are_full(void)
{
	enum { BURSTS_HERE = 60 };
	static struct ledger_part part;
	uint64_t execution[BURSTS_HERE];
	unsigned distinct = 1;
	struct site_table *sites;
	struct thread *thread;
	uint32_t one;

	start("time-space", 1e18);
	run.mixed_site = false;
	thread = new_thread(0);
	if (!thread || ledger_admit(run.ledger, thread)) {
		ok(false, "a thread");
		return;
	}
	sites = &thread->sites;
	one = span_find(sites, 1000, 1);
	for (uint32_t from = 1001; sites->spans < SPANS_MAX - 1; from++)
		span_find(sites, from, 1);
	is_int(span_find(sites, 1000, 2), one,
			"without room for more spans, bursts count as others from their site");
	is_int(span_find(sites, 1, 2), 0, "if there are none, as those of no known site");
	ok(sites->span[0].used, "which has its span then");
	for (int i = 0; i < BURSTS_HERE; i++)
		one_burst(thread, i);
	ledger_drain(run.ledger, thread);
	ledger_part(run.ledger, thread, &part);
	is_int(part.sample.count, BURSTS_HERE, "all are offered to the sample");
	for (int i = 0; i < BURSTS_HERE; i++)
		execution[i] = part.sample.burst[i].execution;
	qsort(execution, BURSTS_HERE, sizeof(*execution), by_value);
	for (int i = 1; i < BURSTS_HERE; i++)
		distinct += execution[i] != execution[i - 1];
	is_int(distinct, BURSTS_HERE, "each with its own number of the execution of its site");
	thread_close(thread);
	thread_free(thread);
	exchange_free(run.exchange);
	ledger_free(run.ledger);
	counting_fini(&run.counting);
}

static _Atomic(struct thread *) places;
static _Atomic uint64_t next_place;
static atomic_bool watched;

static struct thread *new_place(void)
{
	struct thread *thread = new_thread(atomic_fetch_add(&next_place, 1));

	if (!thread || ledger_admit(run.ledger, thread))
		return NULL;
	thread->next = atomic_load(&places);
	while (!atomic_compare_exchange_weak(&places, &thread->next, thread))
		;
	return thread;
}

/* Runs a thread for some bursts, in the place of one that has ended if there is one. */
static void *lives(void *data)
{
	struct thread *thread = crowd_take();

	if (thread)
		thread_renew(thread, &run.rules);
	else
		thread = new_place();
	if (!thread)
		return data;
	for (int i = 0; i < LIVED; i++) {
		one_burst(thread, i);
		if (i % 16 == 15)
			ledger_drain(run.ledger, thread);
	}
	ledger_drain(run.ledger, thread);
	thread_close(thread);
	thread_end_life(thread, 1000);
	crowd_give(thread);
	return data;
}

static void *makes_lives(void *data)
{
	pthread_t thread;

	for (int i = 0; i < LIVES; i++)
		if (pthread_create(&thread, NULL, lives, NULL) == 0)
			pthread_join(thread, NULL);
	return data;
}

/* Drains all threads repeatedly, as the helper thread does. */
static void *watches(void *data)
{
	while (!atomic_load(&watched)) {
		struct account account;

		for (struct thread *thread = atomic_load(&places); thread; thread = thread->next) {
			ledger_drain(run.ledger, thread);
			thread_account(thread, &account);
		}
		sched_yield();
	}
	return data;
}

/* Threads take over the places of threads that have ended. The counts of both are complete. */
static void test_lives(void)
{
	struct ledger_piece pieces[LEDGER_PIECES];
	struct totals *totals;
	struct thread *next;
	pthread_t maker[THREADS], watcher;

	start("time-space", 1e18);
	crowd_start();
	pthread_create(&watcher, NULL, watches, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&maker[i], NULL, makes_lives, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(maker[i], NULL);
	atomic_store(&watched, true);
	pthread_join(watcher, NULL);
	totals = ledger_close(run.ledger, atomic_load(&places), pieces);
	ok(atomic_load(&next_place) <= THREADS, "as many places as threads lived at a time");
	is_int((long long)totals->threads, THREADS * LIVES, "all threads are counted");
	is_int((long long)totals->ended_threads, THREADS * LIVES, "and that they ended");
	is_int((long long)totals->compute.bursts, THREADS * LIVES * LIVED, "so are their bursts");
	ok(totals->reads >= 1.9 * THREADS * LIVES * LIVED && totals->lost == 0,
			"each of which was read (%g reads, %g lost)", totals->reads, totals->lost);
	totals->ended_seconds = 30;
	is_near(totals_threads(totals, 20), 1.5, 1e-9, "there were as many as lived at a time");
	totals->threads += 2;
	is_near(totals_threads(totals, 20), 3.5, 1e-9, "and those that are there to the end");
	for (struct thread *thread = atomic_load(&places); thread; thread = next) {
		next = thread->next;
		thread_free(thread);
	}
	exchange_free(run.exchange);
	ledger_free(run.ledger);
	counting_fini(&run.counting);
}

int main(void)
{
	clock_calibrate(&(struct clock_moment){ 0, 0 });
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct totals *totals;

		scripted_pmu_configure("spin=0.05");
		run.mixed_site = cases[i].mixed_site;
		start(cases[i].scheme, cases[i].pay);
		totals = finish();
		check_accounts(totals, cases[i].name);
		check_counters(cases[i].name);
		if (cases[i].pay < 1)
			ok(totals->reads < 1.9 * THREADS * BURSTS, "%s: not all were (%g reads)",
					cases[i].name, totals->reads);
		for (int t = 0; t < THREADS; t++)
			if (run.threads[t])
				thread_free(run.threads[t]);
		exchange_free(run.exchange);
		ledger_free(run.ledger);
		counting_fini(&run.counting);
	}
	test_time_goes_back();
	test_bounds_times();
	test_returns_at_once();
	test_keeps_budget();
	test_learns_short();
	test_sites_are_full();
	test_lives();
	return tap_done();
}
