/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the slowdown of an observed program, calculated from stretches whose slowdown is known. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/report/slowdown.h"
#include "tests/random.h"
#include "tests/tap.h"

#define STRETCHES 402

/*
 * Makes stretches of a program that becomes slower by half during the run, and has `noise`. slower: its
 * slowdown while it is observed.
 */
static void make(struct stretch *stretches, double slower, double noise)
{
	for (unsigned i = 0; i < STRETCHES; i++) {
		double rate = 50000 / (1 + 0.5 * i / STRETCHES);

		rate *= 1 + noise * (uniform() - 0.5) * sqrt(12);
		stretches[i] = (struct stretch){ .number = 1000 + i, .seconds = 0.2 };
		stretches[i].observed = slowdown_observes(stretches[i].number);
		if (stretches[i].observed)
			rate /= 1 + slower;
		stretches[i].calls = (uint64_t)(rate * stretches[i].seconds);
	}
}

static void test_lots(void)
{
	unsigned observed = 0, first = 0, changes = 0;

	for (uint64_t n = 0; n < 20000; n += 2) {
		observed += slowdown_observes(n) + slowdown_observes(n + 1);
		first += slowdown_observes(n);
		changes += slowdown_observes(n) != slowdown_observes(n + 2);
	}
	is_int(observed, 10000, "one stretch of each pair is observed");
	ok(first > 4800 && first < 5200, "the first of half of them (%u of 10,000)", first);
	ok(changes > 4800 && changes < 5200, "in no order (%u changes)", changes);
}

static void test_known(void)
{
	static struct stretch stretches[STRETCHES];
	struct slowdown slowdown;
	double mean = 0;
	int inside = 0;

	random_state = 1;
	make(stretches, 0.03, 0);
	slowdown_of(stretches, STRETCHES, &slowdown);
	is_int(slowdown.compared, STRETCHES / 2 - 2, "each pair between two others is compared");
	ok(fabs(slowdown.mean - 0.03) < 1e-3,
			"three percent are found in a program that changes: %g", slowdown.mean);
	ok(fabs(slowdown.median - 0.03) < 1e-3, "and in the median: %g", slowdown.median);
	for (int trial = 0; trial < 1000; trial++) {
		make(stretches, 0.01, 0.02);
		slowdown_of(stretches, STRETCHES, &slowdown);
		mean += slowdown.mean / 1000;
		inside += fabs(slowdown.mean - 0.01) <= slowdown.ci95;
	}
	ok(fabs(mean - 0.01) < 3e-4, "one percent within noise of two, on average: %g", mean);
	ok(inside >= 930 && inside <= 970, "it is in the 95%% interval in %d of 1,000 trials",
			inside);
}

/* The program has a period as long as a pair of stretches, and does more in the first one of each pair. */
static void test_period(void)
{
	static struct stretch stretches[STRETCHES];
	struct slowdown slowdown;

	random_state = 3;
	make(stretches, 0.01, 0);
	for (unsigned i = 0; i < STRETCHES; i += 2)
		stretches[i].calls += stretches[i].calls / 4;
	slowdown_of(stretches, STRETCHES, &slowdown);
	ok(fabs(slowdown.mean - 0.01) <= slowdown.ci95 && slowdown.ci95 < 0.05,
			"the first stretch of each pair is not mistaken for the observed one: %g +- %g",
			slowdown.mean, slowdown.ci95);
}

static void test_refused(void)
{
	static struct stretch stretches[STRETCHES];
	struct slowdown slowdown;
	unsigned missing;

	random_state = 2;
	make(stretches, 0.01, 0);
	slowdown_of(stretches, 4, &slowdown);
	ok(!slowdown.compared && isnan(slowdown.mean) && isnan(slowdown.median) &&
					isinf(slowdown.ci95),
			"two pairs tell nothing");
	slowdown_of(stretches, 10, &slowdown);
	ok(slowdown.compared == 3 && isinf(slowdown.ci95), "three of them no interval");
	missing = stretches[4].observed ? 4 : 5;
	memmove(&stretches[missing], &stretches[missing + 1], (9 - missing) * sizeof(*stretches));
	slowdown_of(stretches, 9, &slowdown);
	is_int(slowdown.compared, 2, "a pair of which one is missing is not compared");
	make(stretches, 0.01, 0);
	for (unsigned i = 0; i < STRETCHES; i++)
		stretches[i].calls = (uint64_t)(1000 * pow(1.06, i / 2));
	slowdown_of(stretches, STRETCHES, &slowdown);
	is_int(slowdown.compared, 0, "if the program's work changed, none");
	make(stretches, 0.01, 0);
	for (unsigned i = 0; i < STRETCHES; i++)
		stretches[i].calls = 15;
	slowdown_of(stretches, STRETCHES, &slowdown);
	is_int(slowdown.compared, 0, "if it made few calls, none");
	stretches[3].calls = stretches[4].calls = stretches[5].calls = 0;
	slowdown_of(stretches, STRETCHES, &slowdown);
	ok(!slowdown.compared && isnan(slowdown.mean), "and none is no rate");
}

int main(void)
{
	test_lots();
	test_known();
	test_period();
	test_refused();
	return tap_done();
}
