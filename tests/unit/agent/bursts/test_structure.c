/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that folding calls takes no more than its part of the budget, and that no call is lost where it pauses. */
#include <stdint.h>

#include "agent/bursts/structure.h"
#include "agent/thread/thread.h"
#include "sampling/clock.h"
#include "tests/random.h"
#include "tests/tap.h"

#define SITES 64

static struct thread_rules rules = { .groups = 1, .allowed = 0.01, .scheme.groups = 1 };
static struct thread *thread;

/* Returns a site: of a loop of 8 calls, or at random. */
static uint32_t site(bool ordered, uint64_t call)
{
	return ordered ? (uint32_t)call % 8 : below(SITES);
}

/*
 * Folds calls with bursts of 10 ticks that take 5, with a look at the cost after each 4,096. A call comes every
 * `apart` ticks of the program. Returns the number of calls that came in no pause.
 */
static uint64_t make_calls(bool ordered, uint64_t calls, uint64_t apart)
{
	uint64_t folded = 0;

	for (uint64_t call = 1; call <= calls; call++) {
		folded += !thread->structure.cost.until;
		structure_burst(thread, 10);
		structure_call(thread, site(ordered, call), 5);
		if (call % 4096 == 0)
			structure_pay(thread, &rules, call * apart);
	}
	return folded;
}

/* Begins the structure of a new thread. */
static const struct loops *begin(void)
{
	static const struct plan nothing;

	thread = thread_new(&rules, &(struct thread_spec){ .plan = &nothing });
	structure_open(thread, NULL);
	return thread->structure.loops;
}

static void end(void)
{
	structure_finish(thread);
	is_int((long long)thread->structure.burst, 0, "no burst is left");
	thread_free(thread);
}

/* Sums the ticks of all tokens of the top level. */
static void check_times(const struct loops *loops, uint64_t calls)
{
	double burst = 0, inside = 0;

	for (unsigned i = 0; i < loops->tokens; i++) {
		const struct loops_slot *slot = &arena_look(loops, loops->cell[i])->slot;

		burst += (double)slot->sum[SLOT_BURST];
		inside += (double)slot->sum[SLOT_INSIDE];
	}
	is_int((long long)loops->calls, (long long)calls, "all calls are in the text or in holes");
	ok(burst == 10. * (double)calls && inside == 5. * (double)calls,
			"and so are their bursts and times: %.0f, %.0f", burst, inside);
}

static void test_disorder(void)
{
	const struct loops *loops = begin();
	uint64_t calls = 1000000;

	uint64_t folded = make_calls(false, calls, clock_ticks(100));

	structure_finish(thread);
	ok(folded < calls / 10,
			"calls every 100 ns without an order are hardly folded: %llu of %llu",
			(unsigned long long)folded, (unsigned long long)calls);
	ok(folded > 4096, "but again and again");
	check_times(loops, calls);
	end();
}

static void test_order(void)
{
	const struct loops *loops = begin();
	uint64_t calls = 1000000;

	is_int((long long)make_calls(true, calls, clock_ticks(1e6)), (long long)calls,
			"a loop with calls every ms is folded throughout");
	structure_finish(thread);
	check_times(loops, calls);
	end();
}

static void test_unlimited(void)
{
	begin();
	rules.allowed = 0;
	is_int((long long)make_calls(false, 100000, clock_ticks(100)), 100000,
			"without a budget there is no pause");
	rules.allowed = 0.01;
	end();
}

static void test_skipped(void)
{
	const struct loops *loops = begin();

	make_calls(false, 8192, clock_ticks(100));
	ok(thread->structure.cost.until > 0, "a pause");
	structure_skip(thread, 100, 1000, 500);
	structure_finish(thread);
	check_times(loops, 8192 + 100);
	end();
}

/* Makes a round of up to ten calls at random, three rounds of a loop of two, and a call at its end. */
static uint64_t make_round(void)
{
	uint64_t calls = 0;

	for (unsigned i = 0; i < 10; i++)
		if (below(4)) {
			structure_call(thread, 3 + below(10), 5);
			calls++;
		}
	for (unsigned i = 0; i < 6; i++)
		structure_call(thread, 1 + i % 2, 5);
	structure_call(thread, 0, 5);
	return calls + 7;
}

/* While calls do not fold, each of them is handed on once. */
static void test_regular(void)
{
	const struct loops *loops = begin();
	const struct recurrences *recurrences = thread->structure.recurrences;
	struct recurrence found;
	uint64_t calls = 0;

	for (unsigned round = 0; round < 500; round++)
		calls += make_round();
	structure_skip(thread, 1000, 10, 5);
	is_int((long long)recurrences->calls, (long long)calls,
			"calls without order are handed on, except those in holes");
	for (unsigned round = 0; round < 500; round++)
		calls += make_round();
	structure_lose(thread);
	for (unsigned round = 0; round < 500; round++)
		calls += make_round();
	structure_finish(thread);
	is_int((long long)recurrences->calls, (long long)calls, "each of them once");
	is_int((long long)loops->calls, (long long)calls + 1000, "and all are folded");
	found = recurrence_find(recurrences, calls);
	is_int(found.symbol, 0, "the call at the end of each round is found");
	ok(fabs(found.rounds - 1500) < 5, "and the rounds: %.1f", found.rounds);
	end();
}

/* Calls of a loop are not handed on, and those behind it are. */
static void test_loop_then_rounds(void)
{
	const struct recurrences *recurrences;
	uint64_t calls = 0, before;

	begin();
	recurrences = thread->structure.recurrences;
	make_calls(true, 100000, (uint64_t)clock_ticks(1e6));
	before = recurrences->calls;
	ok(before < 1000, "calls of a loop are not handed on: %llu of 100000 are",
			(unsigned long long)before);
	while (calls < 1000000)
		calls += make_round();
	ok(recurrences->calls - before > calls / 2 && recurrences->calls < before + calls,
			"those behind the loop are, from when they are most: %llu of %llu",
			(unsigned long long)(recurrences->calls - before),
			(unsigned long long)calls);
	is_int(recurrence_find(recurrences, before + calls).symbol, 0, "their rounds are found");
	end();
}

int main(void)
{
	struct clock_moment begun;

	clock_look(&begun);
	clock_calibrate(&begun);
	test_disorder();
	test_regular();
	test_loop_then_rounds();
	test_order();
	test_unlimited();
	test_skipped();
	return tap_done();
}
