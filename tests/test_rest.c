/* SPDX-License-Identifier: BSD-3-Clause */
/* Rests: when a thread needs one, how long it is, and what is counted of it. */
#include <stdlib.h>

#include "agent/rest.h"
#include "agent/thread.h"
#include "sampling/clock.h"
#include "tests/tap.h"

#define ALLOWED 0.01

static struct thread_rules rules;
static struct thread *thread;
static struct preload_thread slot;

static uint64_t ms(double count)
{
	return clock_ticks(count * 1e6);
}

/* A thread that has spent nothing, at time 0. */
static void begin(double allowed)
{
	static const struct plan nothing = { .groups = 1 };

	rules = (struct thread_rules){ .groups = 1,
		.call_ticks = 40,
		.passed_ticks = 3,
		.allowed = allowed };
	rules.scheme.groups = 1;
	rules.service_ticks = ms(10);
	thread = thread_new(&rules, 0, NULL, NULL, &nothing, 0, 0, false);
	if (!thread)
		exit(1);
	slot = (struct preload_thread){ .core = thread };
	slot.passed.place = thread->places;
	thread->passed = &slot.passed;
	thread->slot = &slot;
}

/* Until this time hooks take another `spent` ticks; then the budget is looked at. */
static uint64_t wanted_at(uint64_t now, uint64_t spent)
{
	site_add(&thread->counts.hook_ticks, spent);
	thread->resting.wanted = 0;
	rest_plan(thread, &rules, now, now);
	return thread->resting.wanted;
}

static void test_need(void)
{
	uint64_t rest;

	begin(ALLOWED);
	is_int((long long)wanted_at(ms(100), ms(0.5)), 0, "within the budget: no rest");
	is_int((long long)wanted_at(ms(200), ms(1.5)), 0,
			"a run has a start: a little is in advance");
	rest = wanted_at(ms(300), ms(20));
	ok(rest > 0, "who has spent more than is allowed rests");
	ok((double)ms(20) <= ALLOWED * (double)(ms(100) + rest),
			"so long that what was spent is allowed for it and the time before");
	is_int((long long)wanted_at(ms(400), ms(0.1)), 0,
			"who does not go on so needs no other one");
	ok(wanted_at(ms(410), ms(5)) > 0, "who does rests again");
	ok(wanted_at(ms(430), ms(19.9)) <= ms(2000), "no rest is longer than two seconds");
	thread->window.multiple = 100;
	is_int((long long)wanted_at(ms(440), ms(5)), 0, "first it is seen whether calls go by");
	ok(wanted_at(ms(450), ms(5)) > 0, "if they do not, the thread rests");
	thread_free(thread);

	begin(0);
	is_int((long long)wanted_at(ms(100), ms(90)), 0, "without a budget nobody rests");
	thread_free(thread);
}

/* What a thread does beside calls, it does all the same: calls have the rest of the budget. */
static void test_services(void)
{
	begin(ALLOWED);
	site_add(&thread->counts.service_ticks, ms(500));
	is_int((long long)wanted_at(ms(1000), ms(9)), 0, "services alone are no reason to rest");
	ok(wanted_at(ms(1100), ms(14)) > 0, "with calls they are");
	thread_free(thread);
}

static void test_count(void)
{
	uint64_t now = clock_now(), taken = 0, looked = 0;
	struct account account;

	begin(ALLOWED);
	is_int(rest_takes(&slot.rest) || rest_goes_by(&slot.rest), 0,
			"awake: each call is looked at");
	thread->resting.wanted = ms(1000000);
	rest_begin(thread, now);
	for (int i = 0; i < 1600; i++) {
		bool by = rest_goes_by(&slot.rest);

		looked += !by;
		taken += by || rest_takes(&slot.rest);
	}
	is_int((long long)taken, 1600, "in a rest none is");
	is_int((long long)looked, 1600 / REST_LOOKS, "one in 16 looks at the clock");
	slot.rest.nests = true;
	is_int(rest_goes_by(&slot.rest), 0, "calls that make others are seen when they return");
	ok(rest_takes(&slot.rest), "and are not looked at either");
	slot.rest.until = 1;
	for (taken = 0; rest_takes(&slot.rest);)
		taken++;
	ok(taken < REST_LOOKS, "a rest ends a few calls after its time");
	rest_end(thread, now + 1000);
	thread_account(thread, &account);
	is_near(account.rested_ticks, 1000, 0, "how long it was is counted");
	is_near(account.rested_calls, (double)(1601 + taken), 0, "and its calls");
	is_near(account.calls, account.rested_calls, 0, "which are calls like others");
	is_int(rest_takes(&slot.rest), 0, "awake again");
	ok(!thread->open, "no burst is under way that began before it");
	thread_free(thread);
}

int main(void)
{
	struct clock_moment early = { 0 };

	clock_calibrate(&early);
	test_need();
	test_services();
	test_count();
	return tap_done();
}
