/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests skipped calls. Programs with known lengths of bursts and calls run on a clock of the test. What was
 * counted of them is compared with the truth.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/bursts/budget.h"
#include "agent/bursts/delimit.h"
#include "agent/bursts/skipping.h"
#include "agent/thread/thread.h"
#include "sampling/clock.h"
#include "tests/tap.h"

#define MILLION    1000000
#define SKIP_TICKS 3

static struct thread_rules rules;
static struct thread *thread;
static struct skip skips; /* in the storage of the program's thread */
static uint64_t now;
static bool looks; /* the call under way is not skipped */
/* number of calls that were not skipped; ticks in bursts and in calls */
static uint64_t looked_at, true_burst, true_call;
static uint64_t expected; /* skipped calls that came from the expected place */
/* the place whose calls nest; number of calls from it that were skipped as expected */
static uint64_t nesting, expected_nesting;

static const void *frame = (const void *)0x7000; /* the stack frame of all calls */

static uint64_t held_up; /* ticks in which the thread was on no processor */

static uint64_t ran_ticks(void)
{
	return now - held_up;
}

enum call {
	PASSES,
	WAITS,
	ASKS,     /* asks for something that has not come */
	ANSWERED, /* asks for something that has come */
};

static void returns(enum call call, const void *site)
{
	site_add(&thread->counts.mpi_ticks, now - thread->call.entered);
	thread->polling.asked = call >= ASKS;
	thread->polling.answered = call == ANSWERED;
	delimit_begin(thread, &rules, MPI_CALL_Test, now);
	if (skipping_windows(thread, &rules))
		skipping_after(thread, &rules, site, frame, call == WAITS,
				now - thread->call.entered);
}

/* Tells the agent that a skipped call was answered. */
static void returns_answered(uintptr_t place)
{
	if (!skipping_answered(thread, &rules, now))
		return;
	thread->call.path = path_find(&thread->sites.paths, place, NULL);
	thread->polling.asked = thread->polling.answered = true;
	delimit_begin(thread, &rules, MPI_CALL_Test, now);
}

/*
 * Makes a call as the preload and the hooks do. It comes from `place` after a burst of `burst` ticks, and takes
 * `took` ticks.
 */
static void any_call(uintptr_t place, enum call call, uint64_t burst, uint64_t took)
{
	const void *site = (const void *)place;

	now += burst;
	looks = true;
	if (skip_left(thread->skip)) {
		bool next = skip_takes_next(thread->skip, site, frame);

		looks = !next && !skip_takes(thread->skip, site, frame);
		expected += next;
		expected_nesting += next && place == nesting;
	}
	if (looks) {
		thread->call.path = path_find(&thread->sites.paths, place, NULL);
		thread->call.entered = now;
		thread->skip->nests = false;
		thread->polling.asks = call >= ASKS;
		delimit_end(thread, &rules, MPI_CALL_Test, now);
		thread->skip->nests |= place == nesting;
	}
	now += took;
	true_call += took;
	looked_at += looks;
	if (looks)
		returns(call, site);
	else if (call == ANSWERED && thread->skip->heeds)
		returns_answered(place);
}

static void one_call(uintptr_t place, bool waits, uint64_t burst, uint64_t took)
{
	true_burst += burst;
	any_call(place, waits ? WAITS : PASSES, burst, took);
}

static void begin(uint32_t multiple)
{
	static const struct plan nothing = { .groups = 1 };

	rules = (struct thread_rules){ .groups = 1,
		.call_ticks = 40,
		.skip_ticks = SKIP_TICKS,
		.allowed = 0.009 };
	rules.scheme.groups = 1;
	rules.quick_ticks = 4000;
	rules.service_ticks = 10 * MILLION;
	rules.poll_ticks = 5000;
	rules.poll_look_ticks = 100000;
	rules.ran_ticks = ran_ticks;
	thread = thread_new(&rules, &(struct thread_spec){ .plan = &nothing });
	if (!thread)
		exit(1);
	skips = (struct skip){ .place = thread->places };
	thread->skip = &skips;
	thread->random = 1;
	thread->opening.error = -1; /* no burst is read */
	thread->window.multiple = multiple;
	now = 1000;
	looked_at = expected = true_burst = true_call = held_up = 0;
	nesting = expected_nesting = 0;
	delimit_begin(thread, &rules, MPI_CALL_Init, now);
}

static double count(const _Atomic uint64_t *of)
{
	return (double)atomic_load(of);
}

/* Returns the ticks of the bursts between two places. bursts: receives their number. */
static double between(uintptr_t from, uintptr_t to, double *bursts)
{
	struct site_table *sites = &thread->sites;
	uint32_t begins = site_find(sites, path_find(&sites->paths, from, NULL), MPI_CALL_Test);
	uint32_t ends = site_find(sites, path_find(&sites->paths, to, NULL), MPI_CALL_Test);
	const struct span *span = &sites->span[span_find(sites, begins, ends)];

	double ticks = 0;

	*bursts = 0;
	for (unsigned l = 0; l < span->lengths; l++) {
		*bursts += count(&sites->length[span_length_number(span, l)].unread);
		ticks += count(&sites->length[span_length_number(span, l)].unread_ticks);
	}
	return ticks;
}

static void check(const char *name, uint64_t calls, double tolerance)
{
	struct account account;

	thread_account(thread, &account);
	ok(account.calls == (double)calls, "%s: every call is counted", name);
	ok(account.bursts == (double)calls, "%s: and every burst", name);
	ok(account.ticks + count(&thread->counts.mpi_ticks) == (double)(true_burst + true_call),
			"%s: no time is lost", name);
	ok(fabs(account.ticks / (double)true_burst - 1) <= tolerance,
			"%s: the time of the bursts (%g of it)", name,
			account.ticks / (double)true_burst);
	ok(account.skipped == (double)(calls - looked_at), "%s: the skipped calls", name);
	is_near(thread_own_ticks(thread, &rules) - account.service_ticks,
			account.skipped * SKIP_TICKS, 0.5, "and what they cost");
}

/* Returns a random factor with mean 1. */
static double varies(void)
{
	return 0.5 + (double)rand() / RAND_MAX;
}

static void test_loop(void)
{
	double bursts, ticks;

	begin(SKIPPING_MAX);
	for (int i = 0; i < MILLION / 2; i++) {
		one_call(0x1000, true, (uint64_t)(300 * varies()), (uint64_t)(500 * varies()));
		one_call(0x2000, true, (uint64_t)(100 * varies()), (uint64_t)(200 * varies()));
	}
	one_call(0x3000, true, 100, 100);
	check("a loop of two calls", MILLION + 1, 0.02);
	ok((double)looked_at < 1.2 * MILLION / (SKIPPING_MAX + 1) &&
					(double)looked_at > 0.8 * MILLION / (SKIPPING_MAX + 1),
			"about one call in SKIPPING_MAX + 1 was not skipped (%g)",
			(double)looked_at);
	ticks = between(0x2000, 0x1000, &bursts);
	is_near(bursts / (MILLION / 2), 1, 0.02,
			"number of bursts from the second call to the first");
	is_near(ticks / (300.0 * MILLION / 2), 1, 0.02, "length of these bursts");
	thread_close(thread);
	thread_free(thread);
}

static void test_computing_between(void)
{
	double bursts, ticks;

	/* each thousand polls are followed by a burst of 0.2 ms that another call ends */
	begin(SKIPPING_MAX);
	for (int i = 0; i < 1000; i++) {
		for (int poll = 0; poll < 1000; poll++)
			one_call(0x1000, false, (uint64_t)(50 * varies()),
					(uint64_t)(100 * varies()));
		one_call(0x2000, true, 200000, 300);
	}
	check("computing between polls", 1001 * 1000, 0.01);
	ticks = between(0x1000, 0x2000, &bursts);
	is_near(bursts, 1000, 0, "every burst of computing is one");
	is_near(ticks / (200000.0 * 1000), 1, 0.01, "and is as long as it was");
	thread_close(thread);
	thread_free(thread);
}

static void test_other_stack(void)
{
	begin(SKIPPING_MAX);
	for (int i = 0; i < 10000; i++)
		one_call(0x1000, false, 50, 50);
	ok(looked_at < 5000, "calls from one place are skipped");
	while (!skip_left(thread->skip))
		one_call(0x1000, false, 50, 50);
	frame = (const void *)0x6000;
	one_call(0x1000, false, 50, 50);
	ok(looks, "a call from this place with another stack is not");
	frame = (const void *)0x7000;
	while (!skip_left(thread->skip))
		one_call(0x1000, false, 50, 50);
	one_call(0x2000, false, 50, 50);
	ok(looks, "a call from another place is not");
	looked_at = 0;
	for (int i = 0; i < 10000; i++)
		one_call(0x1000 + 16 * (uintptr_t)(i % 20), false, 50, 50);
	is_near((double)looked_at, 10000, 200,
			"with too many places for a window no call is skipped");
	thread_close(thread);
	thread_free(thread);
}

/* Calls come from five places in turn, and after one round the agent expects the next place. */
static void test_same_order(void)
{
	uint64_t went_by;

	begin(SKIPPING_MAX);
	for (int i = 0; i < MILLION; i++)
		one_call(0x1000 + 16 * (uintptr_t)(i % 5), false, 50, 50);
	went_by = MILLION - looked_at;
	ok(went_by > MILLION / 2 && expected <= went_by &&
					(double)expected > 0.97 * (double)went_by,
			"five places in turn: almost each is the one expected (%g of %g)",
			(double)expected, (double)went_by);
	thread_close(thread);
	thread_free(thread);
}

/* If a call itself makes intercepted calls, the preload must know that the thread is in it. */
static void test_nesting(void)
{
	begin(SKIPPING_MAX);
	nesting = 0x2000;
	for (int i = 0; i < MILLION; i++)
		one_call(i % 4 ? 0x1000 : 0x2000, false, 50, 50);
	ok(looked_at < MILLION / 20, "calls that nest are skipped, too (%llu of a million are not)",
			(unsigned long long)looked_at);
	is_int((long long)expected_nesting, 0, "but none of them as the expected call");
	ok(expected > MILLION / 3, "as the others are (%llu)", (unsigned long long)expected);
	thread_close(thread);
	thread_free(thread);
}

/* A rare place is not in every window, but has been in an earlier one. */
static void test_rare_place(void)
{
	uint64_t rare = 0;
	double bursts, ticks;

	begin(SKIPPING_MAX);
	for (int i = 0; i < 10 * MILLION; i++) {
		bool is_rare = rand() % 50 == 0;

		one_call(is_rare ? 0x2000 : 0x1000, false,
				(uint64_t)((is_rare ? 400 : 50) * varies()), 50);
		rare += is_rare;
	}
	one_call(0x3000, true, 100, 100);
	check("a place that is rare", 10 * MILLION + 1, 0.02);
	ok((double)looked_at < 2 * 10.0 * MILLION / (SKIPPING_MAX + 1),
			"a place that is rare: its calls are skipped as well (%g)",
			(double)looked_at);
	ticks = between(0x1000, 0x2000, &bursts);
	is_near(bursts / (double)rare, 1, 0.1, "a place that is rare: its bursts");
	is_near(ticks / (400 * (double)rare), 1, 0.15, "a place that is rare: their time");
	thread_close(thread);
	thread_free(thread);
}

/* The budget decides whether calls are skipped, and how many. */
static void test_budget(void)
{
	uint64_t second = 2600 * (uint64_t)MILLION;

	begin(0);
	is_int(skipping_multiple(thread, &rules, 100000, second, second), 0,
			"of a hundred thousand calls a second none is skipped");
	is_int(skipping_multiple(thread, &rules, 3 * MILLION, second, second), 10,
			"of three millions ten in eleven are");
	is_int(skipping_multiple(thread, &rules, 100 * MILLION, second, second), SKIPPING_MAX,
			"of very many SKIPPING_MAX in SKIPPING_MAX + 1");
	thread->window.doubt = second / 50;
	is_int(skipping_multiple(thread, &rules, 3 * MILLION, second, second), 0,
			"none is skipped while much of the skipped time was in long bursts or calls");
	is_int(skipping_multiple(thread, &rules, 3 * MILLION, second, 3 * second), 10,
			"until the run is longer");
	thread->window.doubt = 0;
	rules.allowed = 0;
	is_int(skipping_multiple(thread, &rules, 3 * MILLION, second, second), 0,
			"without a budget, none is skipped");
	site_add(&thread->counts.calls, 3 * MILLION);
	rules.allowed = 0.009;
	budget_keep(thread, &rules, second);
	is_int(thread->window.multiple, 10, "a thread sets this number for itself");
	thread_close(thread);
	thread_free(thread);
}

/* A place whose calls and bursts were always short has a few long ones. */
static void test_something_long(bool waits, const char *name)
{
	uint64_t most = (waits ? 10 : 1) * (uint64_t)MILLION;

	begin(SKIPPING_MAX);
	for (int i = 0; i < MILLION; i++)
		one_call(0x1000, waits, !waits && i % 100000 == 50000 ? MILLION : 100,
				waits && i % 100000 == 50000 ? MILLION : 100);
	one_call(0x3000, true, 100, 100);
	check(name, MILLION + 1, 0.01);
	ok(thread->window.doubt <= most && thread->window.doubt >= most / 2,
			"%s: the doubtful time is known, which may be that of calls (%g)", name,
			(double)thread->window.doubt);
	thread_close(thread);
	thread_free(thread);
}

/* ---- polling ---- */

/* Compares what was counted of a program that polls with the truth. */
static void check_polling(const char *name, double bursts, double burst_ticks, double polls,
		double poll_ticks)
{
	struct account account;

	thread_account(thread, &account);
	ok(account.bursts == bursts, "%s: number of bursts (%g of %g)", name, account.bursts,
			bursts);
	ok(account.polls == polls, "%s: number of polls (%g of %g)", name, account.polls, polls);
	ok(account.ticks + account.poll_ticks + count(&thread->counts.mpi_ticks) ==
					(double)(now - 1000),
			"%s: no time is lost", name);
	ok(fabs(account.ticks / burst_ticks - 1) <= 0.01, "%s: the time of the bursts (%g of it)",
			name, account.ticks / burst_ticks);
	ok(fabs(account.poll_ticks / poll_ticks - 1) <= 0.02,
			"%s: the time between polls (%g of it)", name,
			account.poll_ticks / poll_ticks);
	thread_close(thread);
	thread_free(thread);
}

/* Two polling calls in turn, without a budget that makes the agent skip any. */
static void test_polling(void)
{
	begin(0);
	for (int i = 0; i < MILLION / 2; i++) {
		any_call(0x1000, ASKS, 150, 200);
		any_call(0x2000, ASKS, 100, 300);
	}
	ok((double)looked_at < 1.2 * MILLION / (SKIPPING_MAX + 1) + 200,
			"two calls that ask, in turn: most are skipped (%g are not)",
			(double)looked_at);
	any_call(0x3000, WAITS, 125, 300); /* the mean, after skipped calls */
	check_polling("two calls that ask", 2, 275, MILLION - 1, 250.0 * MILLION / 2);
}

/* The answer comes, the program computes and sends, and then it polls again. */
static void test_answers(uint32_t answered_too)
{
	const int rounds = 1000;

	begin(SKIPPING_MAX);
	for (int i = 0; i < rounds; i++) {
		for (int poll = 0; poll < 2000; poll++)
			any_call(poll % 2 ? 0x1000 : 0x2000, ASKS, 100, 200);
		any_call(0x1000, ANSWERED, 100, 2000);
		for (uint32_t poll = 0; poll < answered_too; poll++)
			any_call(0x2000, ANSWERED, 100, 200);
		any_call(0x3000, PASSES, 200000, 300);
	}
	ok((double)looked_at < 0.1 * rounds * 2000, "answers: most calls are skipped (%g are not)",
			(double)looked_at);
	check_polling(answered_too ? "answers, most of them without effect" : "answers", 2 * rounds,
			rounds * 200100.0, rounds * (2000.0 + answered_too),
			rounds * (2000.0 + answered_too) * 100);
}

/* A program polls now and then while it computes. Its bursts are the long times between two polls. */
static void test_progress(void)
{
	begin(0);
	for (int i = 0; i < 1000; i++)
		any_call(0x1000, ASKS, i % 10 ? 4999 : 5000, 100);
	check_polling("computing between calls that ask", 100, 100 * 5000.0, 900, 900 * 4999.0);
}

/*
 * Tests a million ticks in which the kernel takes the processor away, or the program computes, ten times each.
 */
static void test_held_up(bool is_held, uint32_t multiple)
{
	uint64_t doubt;

	begin(multiple);
	any_call(0x3000, WAITS, 0, 300);
	for (int i = 0; i < 10 * 10000; i++) {
		bool is_long = i % 10000 == 5000;

		held_up += is_long && is_held ? MILLION : 0;
		any_call(0x1000, ASKS, is_long ? MILLION : 100, 200);
	}
	any_call(0x3000, WAITS, 100, 300);
	doubt = thread->window.doubt;
	if (is_held) {
		struct account account;

		thread_account(thread, &account);
		is_near(account.bursts, 3, 0, "preempted while it polls: no burst");
		ok(account.ticks < 1000, "preempted while it polls: no computing (%g)",
				account.ticks);
		is_int((long long)doubt, 0, "preempted while it polls: no doubt");
		thread_close(thread);
		thread_free(thread);
		return;
	}
	check_polling("computing in the middle of polling", 3 + 10, 10.0 * MILLION, 10 * 10000 - 11,
			100 * (10.0 * 10000 - 11));
}

/* How large the cost is depends on the machine, so the test checks only that it is known. */
static void test_cost(void)
{
	uint64_t begin = clock_now();
	double cost = skipping_cost(), all = (double)(clock_now() - begin);

	ok(cost > 0 && cost < all, "a skipped call costs %.2f ticks, measured in %.0f", cost, all);
}

int main(void)
{
	srand(1);
	test_loop();
	test_computing_between();
	test_other_stack();
	test_same_order();
	test_nesting();
	test_rare_place();
	test_something_long(true, "calls that wait");
	test_something_long(false, "polls");
	test_budget();
	test_cost();
	test_polling();
	test_answers(0);
	test_answers(20);
	test_progress();
	test_held_up(true, 0);
	test_held_up(true, SKIPPING_MAX);
	test_held_up(false, 0);
	test_held_up(false, SKIPPING_MAX);
	return tap_done();
}
