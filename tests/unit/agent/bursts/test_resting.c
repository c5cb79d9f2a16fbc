/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests rests: when a thread needs one, how long it is, and what is counted of it. */
#include <math.h>
#include <stdlib.h>

#include "agent/bursts/rest_estimate.h"
#include "agent/bursts/resting.h"
#include "agent/thread/thread.h"
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

/* Starts a test with a thread that has used no budget, at time 0. */
static void begin(double allowed)
{
	static const struct plan nothing = { .groups = 1 };

	rules = (struct thread_rules){ .groups = 1,
		.call_ticks = 40,
		.skip_ticks = 3,
		.allowed = allowed };
	rules.scheme.groups = 1;
	rules.service_ticks = ms(10);
	thread = thread_new(&rules, &(struct thread_spec){ .plan = &nothing });
	if (!thread)
		exit(1);
	slot = (struct preload_thread){ .core = thread };
	slot.skip.place = thread->places;
	thread->skip = &slot.skip;
	thread->identity.slot = &slot;
}

/* Adds `spent` ticks in hooks up to the time `now`, and plans a rest. Returns the planned length, or 0. */
static uint64_t wanted_at(uint64_t now, uint64_t spent)
{
	site_add(&thread->counts.hook_ticks, spent);
	thread->resting.wanted = 0;
	resting_plan(thread, &rules, now, now);
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
	ok(rest > 0, "a thread over its budget rests");
	ok((double)ms(20) <= ALLOWED * (double)(ms(100) + rest),
			"until the budget of the rest and of the time before covers what was spent");
	is_int((long long)wanted_at(ms(400), ms(0.1)), 0,
			"a thread that then spends less needs no other rest");
	ok(wanted_at(ms(410), ms(5)) > 0, "a thread that spends as much rests again");
	ok(wanted_at(ms(430), ms(19.9)) <= ms(2000), "no rest is longer than two seconds");
	thread->window.multiple = 100;
	is_int((long long)wanted_at(ms(440), ms(5)), 0,
			"no rest before it is known whether calls can be skipped");
	ok(wanted_at(ms(450), ms(5)) > 0, "if they cannot, the thread rests");
	thread_free(thread);

	begin(0);
	is_int((long long)wanted_at(ms(100), ms(90)), 0, "without a budget no thread rests");
	thread_free(thread);
}

/* Services continue during a rest, so calls get what they leave of the budget. */
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
	is_int(rest_takes(&slot.rest) || rest_skips(&slot.rest), 0, "awake: no call is skipped");
	thread->resting.wanted = ms(1000000);
	resting_begin(thread, now);
	for (int i = 0; i < 1600; i++) {
		bool by = rest_skips(&slot.rest);

		looked += !by;
		taken += by || rest_takes(&slot.rest);
	}
	is_int((long long)taken, 1600, "in a rest all are");
	is_near((double)looked, 1600. / REST_LOOKS, 20,
			"of quick calls, one in 16 looks at the clock");
	slot.rest.nests = true;
	is_int(rest_skips(&slot.rest), 0, "calls that make others are seen when they return");
	ok(rest_takes(&slot.rest), "and are skipped, too");
	slot.rest.until = 1;
	for (taken = 0; rest_takes(&slot.rest);)
		taken++;
	ok(taken < REST_LOOKS, "a rest ends a few calls after its time");
	resting_end(thread, now + 1000);
	thread_account(thread, &account);
	is_near(account.rested_ticks, 1000, 0, "how long it was is counted");
	is_near(account.rested_calls, (double)(1601 + taken), 0, "and its calls");
	is_near(account.calls, account.rested_calls, 0, "which are calls like others");
	is_int(rest_takes(&slot.rest), 0, "awake again");
	ok(!thread->burst.open, "no burst is under way that began before it");
	thread_free(thread);
}

/*
 * Adds `bursts` bursts of one length, `ticks` together, in `awake` ms of the thread's time, and then a rest of
 * `rest` ms. Returns the end of the rest.
 */
static uint64_t stretch_of(uint64_t now, double awake, double rest, uint64_t bursts, uint64_t ticks)
{
	const uint32_t span = 1;
	const unsigned length = 1;

	thread_add_bursts(thread, bursts, ms(1), ticks);
	thread_add_unread(thread, span, length, bursts, ticks);
	rest_estimate_add(thread, span, length, bursts, ticks);
	thread_add_polls(thread, 2 * bursts, 2 * bursts);
	now += ms(awake);
	thread->call.entered = now;
	rest_estimate_begin(thread, now, now);
	rest_estimate_end(thread, now + ms(rest), now + ms(rest));
	return now + ms(rest);
}

/* Calls stretch_of for bursts of 1 ms. */
static uint64_t stretch(uint64_t now, double awake, double rest, uint64_t bursts)
{
	return stretch_of(now, awake, rest, bursts, bursts * ms(1));
}

static double unread(void)
{
	return (double)atomic_load(&thread->sites.length[1].unread);
}

static double variance(void)
{
	return (double)atomic_load(&thread->sites.length[1].variance);
}

static double ticks_variance(void)
{
	return (double)atomic_load(&thread->sites.length[1].ticks_variance);
}

/* The work of a thread in its rests is estimated from its work between them. */
static void test_estimate(void)
{
	struct account account;
	uint64_t now = ms(1000);
	double before;

	begin(ALLOWED);
	thread_add_unread(thread, 1, 1, 100, 100 * ms(1));
	thread->resting.noted = true;
	rest_estimate_start(thread, now);
	now = stretch(now, 100, 200, 10);
	is_near(unread(), 100 + 10 + 20, 0, "as many bursts in the rest as in the time before it");
	now = stretch(now, 100, 200, 10);
	thread_account(thread, &account);
	is_near(account.bursts, 60, 0, "they are bursts of the thread");
	is_near(account.ticks, 60. * (double)ms(1), 10, "and took as long");
	is_near(account.polls, 120, 0, "so is polling");
	is_near(variance(), 0, 0, "if all windows are alike, the bursts have no variance");
	for (int i = 0; i < 8; i++)
		now = stretch(now, 100, 25, 1);
	is_near(unread(), 160 + 10, 1, "parts of bursts add up");
	ok(variance() > 0, "if windows differ, they have some (variance %g)", variance());
	before = unread();
	now = stretch(now, 10, 20, 2);
	is_near(unread() - before, 2, 0,
			"a window is not closed before it has lasted for long enough");
	rest_estimate_finish(thread, now);
	is_near(unread() - before, 2 + 4, 1, "or the thread ends");
	thread_free(thread);
}

/* The bursts of a rest have the variance that other times of the same length have. */
static void test_variance(void)
{
	double mean = 0, mean2 = 0, stated = 0;
	const int runs = 400, windows = 20;

	srand(1);
	for (int run = 0; run < runs; run++) {
		uint64_t now = ms(1000), bursts[20], in_rests = 0, observed = 0;
		double off;

		begin(ALLOWED);
		thread->resting.noted = true;
		rest_estimate_start(thread, now);
		/* each millisecond has one burst or none, and a rest is twice as long as the time before it */
		for (int i = 0; i < windows; i++) {
			bursts[i] = 0;
			for (int k = 0; k < 300; k++) {
				bool one = rand() % 4 == 0;

				bursts[i] += k < 100 && one;
				in_rests += k >= 100 && one;
			}
			observed += bursts[i];
			now = stretch(now, 100, 200, bursts[i]);
		}
		off = unread() - (double)(observed + in_rests);
		mean += off / runs;
		mean2 += off * off / runs;
		stated += variance() / runs;
		thread_free(thread);
	}
	ok(fabs(mean) < 4 * sqrt(mean2 / runs), "the estimate has no bias (%g bursts)", mean);
	ok(stated > 0.7 * mean2 && stated < 1.4 * mean2,
			"its variance is as stated (%g, and %g are stated)", mean2, stated);
}

/* The time of the bursts of a rest has the variance that follows from that of their number and of their lengths. */
static void test_time_variance(void)
{
	double mean2 = 0, stated = 0, by_number = 0;
	const int runs = 400, windows = 20;

	srand(2);
	for (int run = 0; run < runs; run++) {
		uint64_t now = ms(1000);
		double off, observed = 0, in_rests = 0, length;

		begin(ALLOWED);
		thread->resting.noted = true;
		rest_estimate_start(thread, now);
		/* 30 to 33 bursts in 100 ms, whose lengths differ more than their number */
		for (int i = 0; i < windows; i++) {
			double ticks[3] = { 0 };
			uint64_t bursts[3];

			for (int k = 0; k < 3; k++) {
				bursts[k] = 30 + (uint64_t)(rand() % 4);
				for (uint64_t b = 0; b < bursts[k]; b++)
					ticks[k] += (double)ms(.5 + rand() / (RAND_MAX + 1.));
			}
			observed += ticks[0];
			in_rests += ticks[1] + ticks[2];
			now = stretch_of(now, 100, 200, bursts[0], (uint64_t)ticks[0]);
		}
		off = (double)atomic_load(&thread->sites.length[1].unread_ticks) - observed -
				in_rests;
		length = (double)atomic_load(&thread->sites.length[1].unread_ticks) / unread();
		mean2 += off * off / runs;
		by_number += length * length * variance() / runs;
		stated += ticks_variance() / runs;
		thread_free(thread);
	}
	stated += by_number;
	ok(by_number < 0.7 * mean2, "the variance of their number is not all (%.2f of it)",
			by_number / mean2);
	ok(stated > 0.7 * mean2 && stated < 1.4 * mean2,
			"that of their time is as stated (%.2f times what it is)", stated / mean2);
}

/* What is estimated from one window alone is not certain, and is judged when there is a second window. */
static void test_first_window(void)
{
	uint64_t now = ms(1000);
	double alone;

	begin(ALLOWED);
	thread->resting.noted = true;
	rest_estimate_start(thread, now);
	now = stretch(now, 100, 300, 10);
	alone = variance();
	ok(1.96 * sqrt(alone) > 30, "one window says little of 30 bursts in rests: +-%.1f",
			1.96 * sqrt(alone));
	now = stretch(now, 100, 300, 10);
	is_near(variance(), 0, 1e-3 * alone,
			"a second window that is alike says that they are certain");
	thread_free(thread);

	begin(ALLOWED);
	thread->resting.noted = true;
	rest_estimate_start(thread, now);
	now = stretch(now, 100, 0, 10);
	stretch(now, 100, 300, 10);
	is_near(variance(), 0, 0, "so does a window before the first rest");
	thread_free(thread);
}

int main(void)
{
	struct clock_moment early = { 0 };

	clock_calibrate(&early);
	test_need();
	test_services();
	test_count();
	test_estimate();
	test_variance();
	test_time_variance();
	test_first_window();
	return tap_done();
}
