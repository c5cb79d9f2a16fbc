/* SPDX-License-Identifier: BSD-3-Clause */
/* A follower of a loop accepts all of its rounds, whatever the counts of inner loops, and nothing else. */
#include "agent/leads/follow.h"
#include "cluster/loops/loops.h"
#include "tests/random.h"
#include "tests/tap.h"

static struct loops text;
static struct follow follow;
static void start(void)
{
	memset(&text, 0, sizeof(text));
	loops_init(&text);
}

static void call(uint32_t symbol)
{
	loops_add(&text, symbol, 1, 1);
}

/* A round of a solver: its inner loop is executed `steps` times, and its last call `last` times. */
static unsigned solver_round(uint32_t *calls, unsigned steps, unsigned last)
{
	unsigned count = 0;

	calls[count++] = 1;
	for (unsigned i = 0; i < steps; i++) {
		calls[count++] = 2;
		calls[count++] = 3;
	}
	while (last--)
		calls[count++] = 4;
	return count;
}

static bool make_of_last(void)
{
	return text.tokens && follow_make(&follow, &text, text.cell[text.tokens - 1]);
}

static void test_fixed(void)
{
	bool fits = true;

	start();
	for (int i = 0; i < 20; i++) {
		call(5);
		call(6);
		call(6);
		call(7);
	}
	ok(make_of_last(), "a loop without varying counts is followed");
	for (int i = 0; i < 8; i++)
		fits = fits && follow_step(&follow, (uint32_t[]){ 5, 6, 6, 7 }[i % 4]);
	ok(fits, "its rounds fit");
	ok(follow_has(&follow, 6) && !follow_has(&follow, 8), "its calls are known");
	ok(!follow_step(&follow, 8), "a call that it does not have does not fit");
	ok(follow_step(&follow, 5), "and changes nothing");
	ok(!follow_step(&follow, 7), "a call at another place does not fit");
	follow_lose(&follow);
	ok(follow_step(&follow, 7) && follow_step(&follow, 5) && !follow_step(&follow, 5),
			"after calls that were not observed, any call of the loop may come");
	follow_lose(&follow);
	ok(!follow_step(&follow, 8), "but no other one");
}

static void test_varying(void)
{
	uint32_t calls[64];
	bool fits = true;
	unsigned count;

	start();
	for (unsigned i = 0; i < 40; i++) {
		count = solver_round(calls, 2 + i % 5, 1 + i % 3);
		for (unsigned c = 0; c < count; c++)
			call(calls[c]);
	}
	/* the loop is complete when its next round has begun, which the follower does not need */
	loops_finish(&text);
	ok(make_of_last(), "a loop whose inner counts vary is followed");
	follow_lose(&follow);
	for (unsigned i = 0; i < 1000; i++) {
		count = solver_round(calls, 1 + below(20), 1 + below(10));
		for (unsigned c = 0; c < count; c++)
			fits = fits && follow_step(&follow, calls[c]);
	}
	ok(fits, "rounds with other inner counts fit");
	ok(follow_step(&follow, 1) && !follow_step(&follow, 4),
			"a pair that it does not have does not");
	ok(follow_join(&follow, 3, 4) && follow_step(&follow, 1),
			"it is joined after a pair of its calls");
	ok(!follow_join(&follow, 4, 2) && !follow_join(&follow, 9, 1), "and after no other one");
}

/* Returns whether a round of `length` calls, all different, is followed, and one without its call `without` is not. */
static bool follows_length(unsigned length, unsigned without)
{
	bool fits = true;

	start();
	for (unsigned i = 0; i < 4 * length; i++)
		call(100 + i % length);
	if (!make_of_last())
		return false;
	for (unsigned i = 0; i < length; i++) {
		if (i == without)
			return fits && !follow_step(&follow, 100 + (i + 1) % length);
		fits = fits && follow_step(&follow, 100 + i);
	}
	return false;
}

static void test_lengths(void)
{
	bool all = true;

	for (unsigned length = 3; length <= FOLLOW_CALLS_MAX; length++)
		all = all && follows_length(length, below(length));
	ok(all, "each call that is left out of a round is noticed, in rounds of up to %d calls",
			FOLLOW_CALLS_MAX);
	ok(!follows_length(FOLLOW_CALLS_MAX + 1, 0), "a longer round is not followed");
}

/* Two inner loops begin with the same call. The first two calls do not tell them apart. */
static void test_same_start(void)
{
	static const uint32_t round[] = { 1, 2, 1, 2, 1, 2, 1, 3, 1, 3, 4 };
	const unsigned length = sizeof(round) / sizeof(round[0]);
	bool fits = true;

	start();
	for (unsigned i = 0; i < 10 * length; i++)
		call(round[i % length]);
	loops_finish(&text);
	ok(make_of_last(), "a loop whose inner loops begin with the same call is followed");
	follow_lose(&follow);
	for (unsigned i = 0; i < 3 * length; i++)
		fits = fits && follow_step(&follow, round[i % length]);
	ok(fits, "its rounds fit");
	ok(follow_step(&follow, 1) && !follow_step(&follow, 4),
			"a pair that it does not have does not");
	ok(follow_join(&follow, 3, 4) && follow_step(&follow, 1),
			"it is joined after a pair of its calls");
	ok(!follow_join(&follow, 4, 2) && !follow_join(&follow, 9, 1), "and after no other one");
}

static void test_run(void)
{
	start();
	for (int i = 0; i < 5; i++)
		call(9);
	ok(make_of_last() && follow_step(&follow, 9) && !follow_step(&follow, 8),
			"a call that is repeated in a row is a loop of one call");
}

int main(void)
{
	test_run();
	test_fixed();
	test_varying();
	test_lengths();
	test_same_start();
	return tap_done();
}
