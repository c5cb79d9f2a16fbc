/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests long bursts that are cut into slices while they last. One thread computes. Another one drains it and
 * switches its groups, as the helper thread does. The test also runs under TSan.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/bursts/delimit.h"
#include "agent/bursts/reading.h"
#include "agent/bursts/switching.h"
#include "agent/ledger/ledger.h"
#include "agent/ledger/training.h"
#include "agent/rounds/exchange.h"
#include "agent/setup/counting.h"
#include "agent/thread/thread.h"
#include "sampling/clock.h"
#include "tests/pmu/scripted_inside.h"
#include "tests/pmu/scripted_pmu.h"
#include "tests/tap.h"

#define BURSTS      20
#define PERIOD_NS   1000000
#define SAMPLE_COST 3.0 /* ticks */
#define SLOTS       8
#define PERIODS     30         /* number of sampling periods in a burst */
#define WORK        55000000.0 /* number of triad's instructions in PERIODS periods */
#define RARER       10         /* factor on the sampling period in sample_rarely */

static struct {
	struct counting counting;
	struct settings settings;
	struct thread_rules rules;
	struct ledger *ledger;
	struct exchange *exchange;
	_Atomic(struct thread *) thread;
	_Atomic bool done;
	double computed_ns; /* from before the first burst to after the last one */
} run;

/* Opens the counters of the calling thread. */
static struct thread *new_thread(void)
{
	const struct thread_spec spec = {
		.pmu = run.counting.pmu,
		.events = run.counting.event,
		.plan = &run.counting.plan,
		.method = run.counting.probe.method,
	};

	return thread_new(&run.rules, &spec);
}

static void *compute(void *data)
{
	struct thread *thread = new_thread();
	uint64_t begin = clock_now();

	(void)data;
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	atomic_store(&run.thread, thread);
	for (int i = 0; i < BURSTS; i++) {
		uint64_t now;

		thread->call.path = path_find(&thread->sites.paths, 0x1000, NULL);
		delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
		scripted_pmu_work("triad", (uint64_t)WORK);
		now = clock_now();
		reading_stop(thread, &run.rules, now);
		delimit_end(thread, &run.rules, MPI_CALL_Recv, now);
		if (i % 4 == 3)
			ledger_drain(run.ledger, thread);
	}
	run.computed_ns = clock_ns(clock_now() - begin);
	atomic_store(&run.done, true);
	return NULL;
}

/* Starts a test. burst_min_ns: as in the settings. */
static void start(enum scheme_kind scheme, double burst_min_ns)
{
	struct counting_limits limits;
	char why[256] = "";

	memset(&run, 0, sizeof(run));
	settings_defaults(&run.settings);
	run.settings.burst_min_ns = burst_min_ns;
	if (counting_look(&run.counting, "auto", SCRIPTED_PMU_PATH, why, sizeof(why)))
		diag("%s", why);
	counting_limits(&run.counting, &limits);
	counting_settle(&run.counting, &limits);
	run.rules.scheme = (struct scheme){ .kind = scheme,
		.groups = run.counting.plan.groups,
		.seed = 1 };
	run.rules.groups = run.counting.plan.groups;
	for (unsigned g = 0; g < run.rules.groups; g++)
		run.rules.counts[g] = run.counting.plan.group[g].count;
	run.rules.pay = 1e18;
	run.rules.quantum_ticks = clock_ticks(PERIOD_NS);
	run.rules.sample_ns = PERIOD_NS;
	run.rules.sample_ticks = clock_ticks(PERIOD_NS);
	run.rules.sample_cost = (uint64_t)SAMPLE_COST;
	run.rules.long_ticks = SLICES_MIN * run.rules.sample_ticks;
	run.rules.switching = true;
	run.ledger = ledger_new(&run.counting, &run.rules, &run.settings, 0, 1, NULL);
	run.exchange = exchange_new(NULL, NULL, run.ledger, 0, INFINITY, clock_now());
}

/*
 * Each slice belongs to one group, whatever was switched. Therefore every event has the right ratio to cycles.
 */
static void check_counters(const struct phase_estimate *all)
{
	unsigned number = (unsigned)scripted_behaviour_number("triad"), right = 0, seen = 0;
	double cycles = scripted_rate(PERF_TYPE_RAW, 0x76, number, SLOTS);

	for (unsigned e = 0; e < run.counting.plan.events; e++) {
		const struct event *event = &run.counting.event[e];
		double truth = scripted_rate(event->type, event->config, number, SLOTS) / cycles *
				all->event[0].mean;
		bool good = fabs(all->event[e].mean - truth) < 1e-2 * truth + 200;

		if (!all->event[e].observed)
			continue;
		seen++;
		right += good;
		if (!good)
			diag("%s: %g, truth %g", event->name, all->event[e].mean, truth);
	}
	ok(seen > run.counting.plan.group[0].count, "more than one group was counted (%u events)",
			seen);
	is_int(right, seen, "and each event has its true value");
}

static void stop(struct thread *thread)
{
	thread_close(thread);
	thread_free(thread);
	exchange_free(run.exchange);
	ledger_free(run.ledger);
	counting_fini(&run.counting);
}

/*
 * The kernel also interrupts a thread that is in the kernel, and then writes no sample. This time is counted.
 */
static void test_account(void)
{
	struct thread *thread;

	scripted_pmu_configure("written=3,spin=0.1");
	start(SCHEME_NONE, 0);
	compute(NULL);
	thread = atomic_load(&run.thread);
	ledger_drain(run.ledger, thread);
	is_near((double)atomic_load(&thread->drain.slicer.sample_ticks) / SAMPLE_COST,
			BURSTS * PERIODS, 3, "the overhead includes samples in the kernel");
	stop(thread);
}

/* Where the kernel writes no sample, because the thread is in the kernel, slices are as long as elsewhere. */
static void test_periods(void)
{
	struct burst burst = { .ticks = 0 }, slice;
	uint64_t values = 0, slices = 0, samples = 0, head;
	double least = INFINITY, most = 0, ticks = 0;
	struct thread *thread;

	scripted_pmu_configure("written=3");
	start(SCHEME_NONE, 0);
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	thread->call.path = path_find(&thread->sites.paths, 0x1000, NULL);
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	burst.begin = clock_now();
	scripted_pmu_work("triad", 10 * (uint64_t)WORK);
	head = slicer_look(&thread->drain.slicer);
	while (slicer_cut(&thread->drain.slicer, &burst, UINT64_MAX, head, run.rules.counts,
			&slice)) {
		least = fmin(least, (double)slice.values[0]);
		most = fmax(most, (double)slice.values[0]);
		ticks += (double)slice.ticks;
		values += slice.values[0];
		samples += slice.samples;
		slices++;
		if (slice.begin + slice.ticks > thread->drain.slicer.last_ticks)
			abort();
	}
	ok(slices > 9 * PERIODS, "a slice is made for each period (%llu of %u)",
			(unsigned long long)slices, 10 * PERIODS);
	is_near((double)slices / (double)samples, 3, 0.01, "and each third has a sample");
	is_near(most / least, 1, 0.1, "slices are alike");
	ok(ticks > 0 && values > 0 &&
					ticks <= (double)(thread->drain.slicer.last_ticks -
								 burst.begin),
			"and together they are not longer than the burst");
	stop(thread);
}

/* A burst that has not ended yet is learned, whatever bursts were before it. */
static void test_does_not_end(void)
{
	static struct ledger_part part;
	static struct ledger_answer answer;
	struct thread *thread;

	scripted_pmu_configure("");
	start(SCHEME_NONE, -1);
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	thread->call.path = path_find(&thread->sites.paths, 0x1000, NULL);
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	scripted_pmu_work("triad", (uint64_t)(WORK / PERIODS * 5));
	reading_stop(thread, &run.rules, clock_now());
	delimit_end(thread, &run.rules, MPI_CALL_Send, clock_now());
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	for (int i = 0; i < 100 && !atomic_load(&thread->drain.slicer.ahead_bursts); i++) {
		scripted_pmu_work("triad", (uint64_t)WORK);
		ledger_drain(run.ledger, thread);
	}
	ledger_part(run.ledger, thread, &part);
	ledger_train(run.ledger, &part, &answer);
	ok(atomic_load(&thread->drain.slicer.all_slices) > 100,
			"it is cut before it ends (%llu slices)",
			(unsigned long long)atomic_load(&thread->drain.slicer.all_slices));
	ok(answer.burst_min_ns < PERIOD_NS, "its slices are as long as what is learned (%llu ns)",
			(unsigned long long)answer.burst_min_ns);
	/* on a busy machine some slices are longer, and these may be a phase of their own */
	ok(answer.table.phases >= 1, "and are learned (%u phases)", answer.table.phases);
	stop(thread);
}

static void test_cut(void)
{
	bool everything[PROTOTYPES_MAX];
	const struct totals *totals;
	struct phase_estimate all;
	struct thread *thread;
	double seconds, bursts, paid, most;
	pthread_t computing;
	struct ledger_piece pieces[LEDGER_PIECES];

	scripted_pmu_configure("");
	start(SCHEME_TIME, 0);
	pthread_create(&computing, NULL, compute, NULL);
	while (!atomic_load(&run.done)) {
		thread = atomic_load(&run.thread);
		usleep(2000);
		if (!thread)
			continue;
		ledger_drain(run.ledger, thread);
		switching_look(thread, &run.rules, clock_now());
		exchange_step(run.exchange, thread, clock_now());
	}
	pthread_join(computing, NULL);
	thread = atomic_load(&run.thread);
	atomic_store(&run.rules.finished, true);
	ledger_drain(run.ledger, thread);
	exchange_meet(run.exchange);
	exchange_finish(run.exchange, thread);
	totals = ledger_close(run.ledger, thread, pieces);
	ok(totals->slices > 5 * BURSTS, "bursts are cut (%g slices)", totals->slices);
	is_int((long long)totals->lost_samples, 0, "no sample finds the ring full");
	paid = (double)atomic_load(&thread->drain.slicer.sample_ticks) / SAMPLE_COST;
	most = run.computed_ns / PERIOD_NS + BURSTS; /* one a period, and one more for each burst */
	ok(totals->samples > 0 && paid >= totals->samples && paid <= most,
			"the overhead includes each: %g of %g in bursts, and those between them, of %g in all",
			paid, totals->samples, most);
	ok(totals->switches > 3, "groups change within them (%g switches)", totals->switches);
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++)
		everything[p] = true;
	estimate_phase(ledger_sums(run.ledger), everything, NULL, &all);
	check_counters(&all);
	seconds = all.seconds + totals->unclassified.seconds + totals->shorts.seconds;
	bursts = (double)all.read + totals->unclassified.bursts + totals->shorts.bursts;
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++) {
		seconds += totals->unread.prototype[p].seconds;
		bursts += totals->unread.prototype[p].bursts;
	}
	is_near(seconds / totals->compute.seconds, 1, 1e-9, "slices and the rest are all the time");
	is_near(bursts, totals->compute.bursts, 0.5, "and each counts as a burst");
	stop(thread);
}

/* Makes the sampling period so long that the little that a waiting test runs is far below it. */
static void sample_rarely(void)
{
	run.rules.sample_ns *= RARER;
	run.rules.sample_ticks *= RARER;
	run.rules.long_ticks *= RARER;
}

/* Groups change within a burst by the time that its thread has run, not by the time that has passed. */
static void test_switch(void)
{
	struct thread *thread;
	uint64_t quantum;

	scripted_pmu_configure("");
	start(SCHEME_TIME, 0);
	sample_rarely();
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	thread->call.path = path_find(&thread->sites.paths, 0x1000, NULL);
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	quantum = thread->turn.quantum;
	for (int i = 0; i < 3; i++) {
		switching_look(thread, &run.rules, clock_now());
		usleep(RARER * PERIODS * PERIOD_NS / 1000);
	}
	ok(thread->turn.quantum == quantum, "a thread that waits keeps its group");
	scripted_pmu_work("triad", RARER * (uint64_t)WORK);
	switching_look(thread, &run.rules, clock_now());
	ok(thread->turn.quantum != quantum, "a thread that has run for long gets the next group");
	stop(thread);
}

/* A burst in which the thread waits for a processor is not long because of what the thread did before it. */
static void test_waits(void)
{
	struct thread *thread;
	uint64_t quantum;

	scripted_pmu_configure("");
	start(SCHEME_TIME, 0);
	sample_rarely();
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	switching_look(thread, &run.rules, clock_now());
	scripted_pmu_work("triad", RARER * (uint64_t)WORK);
	thread->call.path = path_find(&thread->sites.paths, 0x1000, NULL);
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	quantum = thread->turn.quantum;
	usleep(3 * RARER * PERIODS * PERIOD_NS / 1000);
	switching_look(thread, &run.rules, clock_now());
	ok(thread->turn.quantum == quantum, "a burst that waits is not long by work before it");
	scripted_pmu_work("triad", RARER * (uint64_t)WORK);
	switching_look(thread, &run.rules, clock_now());
	ok(thread->turn.quantum != quantum, "and becomes long by its own work");
	stop(thread);
}

/* A signal handler that leaves a read by longjmp leaves the turn taken. The thread reads and ends nevertheless. */
static void test_left_turn(void)
{
	struct thread *thread;

	scripted_pmu_configure("spin=0");
	start(SCHEME_TIME, 0);
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	ok(thread_take_turn(thread) && !thread_take_turn_of(thread),
			"the helper has no turn in a read");
	thread->call.path = path_find(&thread->sites.paths, 0x1000, NULL);
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	ok(thread->burst.reading, "after a read that was left the next one is made");
	ok(thread_take_turn_of(thread) && !thread_take_turn(thread),
			"and then the helper has its turn");
	thread_end_turn(thread);
	thread_take_turn(thread);
	alarm(60);
	stop(thread);
	alarm(0);
}

/* While the agent is off, what was under way is no burst: groups stay, and nothing is drained. */
static void test_paused(void)
{
	struct thread *thread;
	unsigned group;

	scripted_pmu_configure("ran=1");
	start(SCHEME_TIME, 0);
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	thread->call.path = path_find(&thread->sites.paths, 0x1000, NULL);
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	group = thread->turn.group;
	for (unsigned on = 0; on < 2; on++) {
		atomic_store(&run.rules.resumed, on ? clock_now() : UINT64_MAX);
		scripted_pmu_work("triad", (uint64_t)WORK);
		for (int i = 0; i < 3; i++)
			switching_look(thread, &run.rules, clock_now());
		ok(thread->turn.group == group && !thread_under_way(thread, &run.rules),
				on ? "a burst from before a pause keeps its group" :
				     "groups stay while the agent is off");
		ok(!switching_lasts(thread, &run.rules, clock_now() + clock_ticks(1e10)),
				"and its samples are not drained");
	}
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	scripted_pmu_work("triad", (uint64_t)WORK);
	for (int i = 0; i < 3; i++)
		switching_look(thread, &run.rules, clock_now());
	ok(thread->turn.group != group, "they change in the next burst");
	stop(thread);
}

/* The budget pays for looks. A thread without samples is looked at rarely, because its group cannot change. */
static void test_looks(void)
{
	struct perf_event_mmap_page *page;
	struct thread *thread;
	uint64_t rest;
	double before;

	scripted_pmu_configure("ran=1");
	start(SCHEME_TIME, 0);
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	thread->call.path = path_find(&thread->sites.paths, 0x1000, NULL);
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	scripted_pmu_work("triad", (uint64_t)WORK);
	before = thread_own_ticks(thread, &run.rules);
	rest = switching_look(thread, &run.rules, clock_now());
	ok(thread->watched.switches == 1 && rest <= 4 * PERIOD_NS, "a group stays for some slices");
	ok(thread_own_ticks(thread, &run.rules) > before, "the budget pays for the look");
	scripted_pmu_work("triad", (uint64_t)WORK);
	page = thread->drain.slicer.overflow.page;
	thread->drain.slicer.overflow.page = NULL;
	rest = switching_look(thread, &run.rules, clock_now());
	thread->drain.slicer.overflow.page = page;
	ok(thread->watched.switches == 1 && rest >= SLICES_MIN * PERIOD_NS - 1000,
			"without samples the group stays, and looks are rare (%llu ns)",
			(unsigned long long)rest);
	stop(thread);
}

/* Makes a burst of so many periods from a call path, and looks at it all the time. Returns how often groups changed. */
static unsigned watch_burst(struct thread *thread, uintptr_t path, unsigned periods)
{
	unsigned switches;
	uint64_t now;

	thread->call.path = path_find(&thread->sites.paths, path, NULL);
	delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
	for (unsigned i = 0; i < periods; i++) {
		switching_look(thread, &run.rules, clock_now());
		scripted_pmu_work("triad", (uint64_t)(WORK / PERIODS));
	}
	switches = thread->watched.switches;
	now = clock_now();
	reading_stop(thread, &run.rules, now);
	delimit_end(thread, &run.rules, MPI_CALL_Recv, now);
	switching_look(thread, &run.rules, clock_now());
	ledger_drain(run.ledger, thread);
	return switches;
}

/* Returns how many bursts were left to be placed without their counters. */
static unsigned left_bursts(const struct thread *thread)
{
	unsigned left = 0;

	for (unsigned i = 0; i < LENGTHS_MAX; i++)
		left += thread->sites.length[i].left;
	return left;
}

/* Four bursts take turns, and each begins a quantum. Each of them is counted by all groups nevertheless. */
static void test_turns(void)
{
	unsigned seen[4] = { 0 };
	struct thread *thread;

	scripted_pmu_configure("spin=0");
	start(SCHEME_TIME_SPACE, 0);
	run.rules.quantum_ticks = 0;
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	for (unsigned i = 0; i < 400; i++) {
		thread->call.path = path_find(&thread->sites.paths, 0x1000 * (1 + i % 4), NULL);
		delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
		seen[i % 4] |= 1u << thread->turn.group;
		reading_stop(thread, &run.rules, clock_now());
		delimit_end(thread, &run.rules, MPI_CALL_Recv, clock_now());
		ledger_drain(run.ledger, thread);
	}
	ok(run.rules.groups % 4 == 0, "the number of groups is a multiple of that of bursts");
	for (unsigned k = 0; k < 4; k++)
		ok(seen[k] == (1u << run.rules.groups) - 1, "burst %u has all groups", k);
	stop(thread);
}

/* Groups change early where bursts were long before, and bursts that are not long stay whole elsewhere. */
static void test_expected(void)
{
	struct thread *thread;
	unsigned group, left;

	scripted_pmu_configure("ran=1");
	start(SCHEME_TIME, 0);
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	ok(watch_burst(thread, 0x1000, 4) > 0, "the first burst of a new site may be long");
	is_int(left_bursts(thread), 1, "it was not: it counts as not read");
	is_int(watch_burst(thread, 0x1000, 4), 0, "the next one keeps its group");
	is_int(watch_burst(thread, 0x2000, 4), 0, "and one of another new site, too");
	is_int(left_bursts(thread), 1, "both are read");
	group = (thread->turn.group + 1) % run.rules.groups;
	ok(watch_burst(thread, 0x2000, 25) >= 5, "groups change in a burst that is long");
	left = left_bursts(thread);
	ok(watch_burst(thread, 0x2000, 4) > 0, "and early in the next one of its site");
	is_int(left_bursts(thread), left + 1, "which counts as not read, because it was not long");
	is_int(watch_burst(thread, 0x2000, 4), 0, "so the one after it keeps its group");
	is_int(watch_burst(thread, 0x2000, 4), 0, "and so on");
	is_int(thread->turn.group, (group + 3) % run.rules.groups,
			"each burst of a round begins with the group after that of the one before");
	stop(thread);
}

static void make_bursts(struct thread *thread, unsigned count)
{
	while (count-- > 0) {
		uint64_t now;

		thread->call.path = path_find(&thread->sites.paths, 0x1000, NULL);
		delimit_begin(thread, &run.rules, MPI_CALL_Send, clock_now());
		scripted_pmu_work("triad", (uint64_t)(WORK / PERIODS * 2));
		now = clock_now();
		reading_stop(thread, &run.rules, now);
		delimit_end(thread, &run.rules, MPI_CALL_Send, now);
		ledger_drain(run.ledger, thread);
	}
}

static unsigned located_samples(void)
{
	const struct profile *profile = ledger_profile(run.ledger);
	unsigned samples = 0;

	for (unsigned i = 0; i < PROFILE_ENTRIES; i++)
		samples += profile->entry[i].samples;
	return samples;
}

/* Bursts that are not read are sampled nevertheless, and the samples belong to their phase. */
static void test_unread(void)
{
	static struct ledger_part part;
	static struct ledger_answer answer;
	uint64_t samples;
	unsigned located;
	struct thread *thread;

	scripted_pmu_configure("");
	start(SCHEME_NONE, 0);
	run.rules.long_ticks = 0;
	thread = new_thread();
	if (!thread || thread->opening.error || ledger_admit(run.ledger, thread))
		abort();
	make_bursts(thread, 1);
	/* one length for all bursts, so that the speed of the machine makes no difference */
	thread->sites.lengths = LENGTHS_MAX - 1;
	make_bursts(thread, 40);
	ledger_part(run.ledger, thread, &part);
	ledger_train(run.ledger, &part, &answer);
	ok(answer.table.phases >= 1, "a phase is learned");
	ledger_publish(run.ledger, &answer);
	make_bursts(thread, 10);
	samples = atomic_load(&thread->drain.slicer.samples);
	located = located_samples();
	thread->budget.pay = 0;
	make_bursts(thread, 20);
	samples = atomic_load(&thread->drain.slicer.samples) - samples;
	ok(samples > 0, "bursts that are not read are sampled (%llu samples)",
			(unsigned long long)samples);
	is_int(located_samples() - located, (long long)samples,
			"and each sample is of their phase");
	stop(thread);
}

int main(void)
{
	clock_calibrate(&(struct clock_moment){ 0, 0 });
	test_account();
	test_periods();
	test_does_not_end();
	test_cut();
	test_switch();
	test_waits();
	test_left_turn();
	test_paused();
	test_looks();
	test_expected();
	test_turns();
	test_unread();
	return tap_done();
}
