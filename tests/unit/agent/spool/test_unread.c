/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests how bursts that were not read are placed, by their call paths and their length. They follow the read
 * bursts of the same length, each of which stands for 1 / its probability. A burst about which nothing is known
 * is short or unclassified, by its length. Long bursts that were cut count in slices. The errors of number and time
 * are as large as the stated variances.
 */
#include <math.h>
#include <stdlib.h>

#include "agent/spool/unread.h"
#include "tests/tap.h"

#define MS 1000000. /* 1 ms in ticks of 1 ns */

static struct site_table sites;
static struct unread unread;
static const uint32_t phase[] = { 1, 2, 2 };

static struct span *span_between(uint32_t from, uint32_t to)
{
	return &sites.span[span_find(&sites, site_find(&sites, from, 0), site_find(&sites, to, 0))];
}

static struct span_length *length_of(struct span *span, double ticks)
{
	return &sites.length[span_length(&sites, span, (uint64_t)ticks)];
}

static void start(void)
{
	memset(&sites, 0, sizeof(sites));
	memset(&unread, 0, sizeof(unread));
}

static struct unread_placed place(double burst_min)
{
	return unread_add(&unread, &sites, phase, 3, burst_min, 1);
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b) + 1e-12;
}

/* Some bursts of one site take 1 ms, and others 20 ms. */
static void test_two_lengths(void)
{
	struct span *span;
	struct unread_placed placed;

	start();
	span = span_between(1, 2);
	for (int i = 0; i < 10; i++)
		span_note(length_of(span, MS), 0, 9, MS);
	span_note(length_of(span, 20 * MS), 1, 2, 20 * MS);
	span_add_unread(length_of(span, MS), 80, (uint64_t)(80 * MS));
	span_add_unread(length_of(span, 20 * MS), 40, (uint64_t)(40 * 20 * MS));
	placed = place(0);
	ok(near(unread.prototype[0].bursts, 80) && near(unread.prototype[0].seconds, .08),
			"unread short bursts go where the read short ones went");
	ok(near(unread.prototype[1].bursts, 40) && near(unread.prototype[1].seconds, .8),
			"and the long ones where the only read long one went");
	ok(placed.shorts.bursts == 0 && placed.unclassified.bursts == 0 && placed.slices == 0,
			"none is left");
	ok(unread.phase[0].bursts2 > 0 && unread.phase[1].bursts2 > unread.phase[0].bursts2 / 100,
			"the number is not certain, because both lengths occur between these places");
}

/* Two prototypes have one length. A burst that was read with a smaller probability has a larger weight. */
static void test_weights(void)
{
	struct span *span;

	start();
	span = span_between(1, 2);
	for (int i = 0; i < 10; i++)
		span_note(length_of(span, MS), 0, 4, MS);
	for (int i = 0; i < 10; i++)
		span_note(length_of(span, MS), 1, 2, MS);
	span_add_unread(length_of(span, MS), 40, (uint64_t)(40 * MS));
	place(0);
	ok(near(unread.prototype[0].bursts, 30) && near(unread.prototype[1].bursts, 10),
			"three of four stand for the first");
	/* 3/4 of what is as good as 40^2 / (30^2/10 + 10^2/10) = 16 reads of equal weight, and of one more */
	ok(near(unread.phase[0].bursts2,
			   40 * 12.75 * 5.25 * (18 + 40.) / (18 * 18 * 19.) +
					   pow(30 - 40 * 12.75 / 18, 2)),
			"the error is that of a share known from sixteen reads");
	ok(near(unread.phase[0].seconds2, unread.phase[0].bursts2 * 1e-6),
			"and that of the time is of bursts of 1 ms");
}

/*
 * Between two places is only one phase. The number of its bursts is certain, except for phases that may not
 * have been seen.
 */
static void test_certain(void)
{
	struct span *span;

	start();
	span = span_between(1, 2);
	for (int i = 0; i < 14; i++)
		span_note(length_of(span, MS), i % 2 ? 1 : 2, 4, MS);
	span_add_unread(length_of(span, MS), 58, (uint64_t)(58 * MS));
	place(0);
	ok(near(unread.prototype[1].bursts + unread.prototype[2].bursts, 58),
			"two prototypes share what is unread");
	ok(near(unread.phase[1].bursts2,
			   58 * 15 * 1 * (16 + 58.) / (16 * 16 * 17.) + pow(58 - 58 * 15 / 16., 2)),
			"which are one phase, and about one in sixteen may be of another");

	start();
	span = span_between(1, 2);
	for (int i = 0; i < 14; i++)
		span_note(length_of(span, MS), 1, 1, MS);
	place(0);
	ok(unread.phase[1].bursts2 == 0, "it is certain if every burst was read");
}

/* No burst of some lengths was read. */
static void test_neighbours(void)
{
	struct span *span;
	struct unread_placed placed;

	start();
	span = span_between(1, 2);
	span_note(length_of(span, MS), 0, 3, MS);
	span_note(length_of(span, 8 * MS), 1, 3, 8 * MS);
	span_add_unread(length_of(span, 1.3 * MS), 2, (uint64_t)(2 * 1.3 * MS));
	span_add_unread(length_of(span, 6.5 * MS), 2, (uint64_t)(2 * 6.5 * MS));
	span_add_unread(length_of(span, 100 * MS), 2, (uint64_t)(2 * 100 * MS));
	placed = place(0);
	ok(near(unread.prototype[0].bursts, 2) && near(unread.prototype[1].bursts, 4),
			"the nearest length tells");
	ok(placed.unclassified.bursts == 0 && near(unread.prototype[1].seconds, .213),
			"also one that is ten times as short, because a burst may be delayed");

	start();
	span = span_between(1, 2);
	span_note(length_of(span, 20 * MS), 1, 3, 20 * MS);
	span_add_unread(length_of(span, MS), 2, (uint64_t)(2 * MS));
	placed = place(0);
	ok(placed.unclassified.bursts == 2 && near(placed.unclassified.seconds, .002),
			"but not one that is ten times as long");

	start();
	span_note(length_of(span_between(1, 3), MS), 1, 3, MS);
	span_add_unread(length_of(span_between(1, 2), MS), 7, (uint64_t)(7 * MS));
	place(0);
	ok(near(unread.prototype[1].bursts, 7),
			"if none was read, bursts that start at the same site decide");
}

/* The limit of short bursts is known when the run is over. */
static void test_short(void)
{
	struct span *span;
	struct unread_placed placed;

	start();
	span = span_between(1, 2);
	span_add_unread(length_of(span, .01 * MS), 100, (uint64_t)(100 * .01 * MS));
	span_add_unread(length_of(span, 5 * MS), 3, (uint64_t)(3 * 5 * MS));
	span_note(length_of(span, .02 * MS), UNREAD_UNCLASSIFIED, 1, .02 * MS);
	span_note(length_of(span, 40 * MS), UNREAD_UNCLASSIFIED, 1, 40 * MS);
	placed = place(MS);
	ok(near(placed.shorts.bursts, 101) && near(placed.shorts.seconds, 1.02e-3),
			"below the limit, nothing is unclassified");
	ok(near(placed.unclassified.bursts, 3 - 1),
			"and bursts that were unclassified are no longer");
	ok(near(placed.unclassified.seconds, 15e-3 - 2e-5), "with its time");
}

/* Long bursts are cut, and an unread one counts as many slices as the read ones. */
static void test_slices(void)
{
	struct span *span;
	struct span_length *length;
	struct unread_placed placed;

	start();
	span = span_between(1, 2);
	length = length_of(span, 500 * MS);
	length->cut = true;
	span_note_slices(length, 0, 40, 40 * 10 * MS);
	span_note_slices(length, 1, 10, 10 * 10 * MS);
	span_add_unread(length, 2, (uint64_t)(2 * 500 * MS));
	placed = place(0);
	ok(near(unread.prototype[0].bursts, 80) && near(unread.prototype[1].bursts, 20),
			"a hundred slices in place of two bursts");
	ok(near(unread.prototype[0].seconds, .8), "with their time");
	ok(near(placed.slices, 98), "and 98 are told to be more");
}

/* A span has more lengths and prototypes than room for them, and no burst is lost. */
static void test_no_room(void)
{
	struct span *span;
	struct unread_placed placed;
	double bursts = 0, seconds = 0, ticks = 0;

	start();
	span = span_between(1, 2);
	for (int i = 0; i < 40; i++) {
		double of = 1000 * exp2(i / 2.);

		ticks += (double)(uint64_t)of;
		for (uint32_t p = 0; p < 10; p++)
			span_note(length_of(span, of), p, 2, of);
		span_add_unread(length_of(span, of), 1, (uint64_t)of);
	}
	is_int(span->lengths, SPAN_LENGTHS_MAX, "as many lengths as there is room for");
	placed = place(0);
	for (unsigned p = 0; p < PROTOTYPES_MAX; p++) {
		bursts += unread.prototype[p].bursts;
		seconds += unread.prototype[p].seconds;
	}
	ok(near(bursts + placed.unclassified.bursts, 40), "every burst is somewhere");
	ok(near(seconds + placed.unclassified.seconds, ticks * 1e-9), "and all of its time");
}

/* Lengths of spans without room are placed with each other, or not at all. */
static void test_without_room(void)
{
	struct unread_placed placed;

	start();
	sites.lengths = LENGTHS_MAX - 1;
	span_add_unread(length_of(span_between(1, 2), MS), 5, (uint64_t)(5 * MS));
	span_add_unread(length_of(span_between(3, 2), 2 * MS), 5, (uint64_t)(10 * MS));
	placed = place(0);
	ok(near(placed.unclassified.bursts, 10) && near(placed.unclassified.seconds, .015),
			"nothing tells where these belong");
	start();
	sites.lengths = LENGTHS_MAX - 1;
	span_add_unread(length_of(span_between(1, 2), MS), 5, (uint64_t)(5 * MS));
	span_note(length_of(span_between(3, 2), MS), 1, 2, MS);
	placed = place(0);
	ok(near(unread.prototype[1].bursts, 5) && placed.unclassified.bursts == 0,
			"a read burst among them does");
}

/*
 * Places a span of which `read` bursts of 1 ms were read, and four bursts of 3 ms were not. Another span has
 * the same calls.
 */
static void place_few_read(int read)
{
	struct span *span, *other;

	start();
	sites.paths.count = 5;
	for (uintptr_t path = 1; path < 5; path++)
		sites.paths.path[path].address[0] = 0x1000 + path % 2;
	span = span_between(1, 2);
	for (int i = 0; i < read; i++)
		span_note(length_of(span, MS), 0, 1, MS);
	span_add_unread(length_of(span, 3 * MS), 4, (uint64_t)(12 * MS));
	other = span_between(3, 4);
	for (int i = 0; i < 10; i++)
		span_note(length_of(other, 3 * MS), 1, 1, 3 * MS);
	place(0);
}

static void test_few_read(void)
{
	place_few_read(1);
	ok(near(unread.prototype[1].bursts, 4) && unread.prototype[0].bursts == 0,
			"one read burst says little about other lengths, and the same calls elsewhere say more");
	place_few_read(20);
	ok(near(unread.prototype[0].bursts, 4) && unread.prototype[1].bursts == 0,
			"if many were read, the others are longer bursts of the same phase");
}

/* Returns the variance of the number of a phase's bursts: one of a span of its own, and `others` of another span. */
static double error_beside(int others)
{
	start();
	span_note(length_of(span_between(1, 2), MS), 0, 1, MS);
	for (int i = 0; i < others; i++)
		span_note(length_of(span_between(3, 4), MS), 0, 1, MS);
	place(0);
	return unread.phase[0].bursts2;
}

static void test_few_bursts(void)
{
	ok(error_beside(0) == 0, "a phase of one burst, which was read, has one burst");
	ok(error_beside(2) == 0, "so has one of few bursts of each span");
	ok(near(error_beside(20), 1),
			"the only burst of a span may be of another phase than many others");
}

/* Returns the error of 60 unread bursts of 1 ms, if their number and time have these variances as estimates. */
static struct tally_error error_of(float variance, float ticks_variance)
{
	struct span_length *length;

	start();
	length = length_of(span_between(1, 2), MS);
	for (int i = 0; i < 20; i++)
		span_note(length, 0, 4, MS);
	span_add_unread(length, 60, (uint64_t)(60 * MS));
	atomic_store(&length->variance, variance);
	atomic_store(&length->ticks_variance, ticks_variance);
	place(0);
	return unread.phase[0];
}

static void test_estimated(void)
{
	struct tally_error known = error_of(0, 0), estimated = error_of(100, 9e12f);

	ok(near(estimated.bursts2, known.bursts2 + 100),
			"the number of bursts in rests has the variance of its estimate");
	ok(fabs(estimated.seconds2 - known.seconds2 - 100e-6 - 9e-6) < 1e-10,
			"and their time has that of both");
}

/*
 * Bursts of one span are much longer than those that were read, because they were delayed. Another span from the
 * same site has bursts that are as long by themselves.
 */
static void test_delayed(void)
{
	struct span *span, *other;

	start();
	span = span_between(1, 2);
	other = span_between(1, 3);
	for (int i = 0; i < 50; i++) {
		span_note(length_of(span, .02 * MS), 0, 40, .02 * MS);
		span_note(length_of(other, 4 * MS), 1, 1, 4 * MS);
	}
	span_add_unread(length_of(span, .02 * MS), 2000, (uint64_t)(2000 * .02 * MS));
	span_add_unread(length_of(span, 4 * MS), 10, (uint64_t)(10 * 4 * MS));
	place(0);
	ok(near(unread.prototype[0].bursts, 2010) && unread.prototype[1].bursts == 0,
			"they are in the phase of the read bursts of their span");
	ok(unread.phase[0].seconds2 > .01 * .01,
			"but that is not certain, and says so: %.3f s of 0.04 s",
			sqrt(unread.phase[0].seconds2));
}

/* A span has 200 bursts of 1 ms in phase 1, of which 50 were read, and `few` of another length, which were all read. */
static void place_strays(uint32_t prototype, double ticks, int few, int elsewhere)
{
	struct span *span;

	start();
	span = span_between(1, 2);
	for (int i = 0; i < 50; i++)
		span_note(length_of(span, MS), 0, 4, MS);
	span_add_unread(length_of(span, MS), 150, (uint64_t)(150 * MS));
	for (int i = 0; i < few; i++)
		span_note(length_of(span, ticks), prototype, 1, ticks);
	for (int i = 0; i < elsewhere; i++)
		span_note(length_of(span_between(3, 4), ticks), prototype, 1, ticks);
	place(0);
}

static void test_strays(void)
{
	const struct tally *stray = unread.stray;

	place_strays(UNREAD_UNCLASSIFIED, 20 * MS, 2, 0);
	ok(near(stray[0].bursts, 2) && near(stray[0].seconds, .04),
			"longer bursts in no phase may be delayed ones of the span's phase");
	place_strays(1, 20 * MS, 2, 10);
	ok(near(stray[0].bursts, 2) && near(stray[1].bursts, 2) && near(stray[1].seconds, .04),
			"so may those in a phase that is mostly elsewhere");
	place_strays(1, 20 * MS, 2, 1);
	ok(stray[0].bursts == 0 && stray[1].bursts == 0,
			"those in a phase of which they are the most are what they are");
	place_strays(UNREAD_UNCLASSIFIED, .1 * MS, 2, 0);
	ok(stray[0].bursts == 0, "so are shorter ones, because nothing makes a burst shorter");
	place_strays(UNREAD_UNCLASSIFIED, 20 * MS, 30, 0);
	ok(stray[0].bursts == 0, "and more than a tenth of the span's bursts");
}

/* Returns a random number in [0, 1). */
static double draw(void)
{
	return rand() / (RAND_MAX + 1.);
}

#define KINDS 4 /* lengths of the bursts of test_coverage */

/* Counts of one phase: all of its bursts, and what is known of them before unread ones are placed. */
struct known {
	struct tally all, read;
};

/*
 * Runs a span whose bursts have some lengths, the longer the fewer. Those of one length are of the first phase, of
 * the second, or of both at random. Each burst is read with the probability `chance`.
 */
static struct known run_span(double chance)
{
	struct span *span = span_between(1, 2);
	struct known first = { .all = { 0, 0 } };

	for (int kind = 0; kind < KINDS; kind++) {
		double mixed = draw(), share = mixed < .4 ? 1 : mixed < .6 ? 0 : draw();
		int bursts = 1 + (int)(400 * draw() / (kind * kind + 1));

		for (int i = 0; i < bursts; i++) {
			double ticks = floor(MS * exp2(2 * kind) * (1 + .3 * draw()));
			bool is_first = draw() < share, is_read = draw() < chance;

			if (is_first) {
				first.all.bursts++;
				first.all.seconds += ticks * 1e-9;
			}
			if (is_first && is_read) {
				first.read.bursts++;
				first.read.seconds += ticks * 1e-9;
			}
			if (is_read)
				span_note(length_of(span, ticks), is_first ? 0 : 1, 1 / chance,
						ticks);
			else
				span_add_unread(length_of(span, ticks), 1, (uint64_t)ticks);
		}
	}
	return first;
}

/* The 95% intervals of number, time and mean of a phase hold the truth as often as they say. */
static void test_coverage(void)
{
	static const char *const names[] = { "number", "time", "mean" };
	int held[3] = { 0 }, runs = 0;

	srand(1);
	while (runs < 2000) {
		double bursts, seconds, mean, mean2;
		struct tally_error *error = &unread.phase[0];
		struct known first;

		start();
		first = run_span(.03 + .5 * draw() * draw());
		place(0);
		bursts = first.read.bursts + unread.prototype[0].bursts;
		seconds = first.read.seconds + unread.prototype[0].seconds;
		if (first.all.bursts < 1 || first.read.bursts < 1)
			continue;
		runs++;
		mean = seconds / bursts;
		mean2 = (error->seconds2 - 2 * mean * error->bursts_seconds +
					mean * mean * error->bursts2) /
				(bursts * bursts);
		held[0] += fabs(bursts - first.all.bursts) <= 1.96 * sqrt(error->bursts2) + .5;
		held[1] += fabs(seconds - first.all.seconds) <= 1.96 * sqrt(error->seconds2) + 1e-9;
		held[2] += fabs(mean - first.all.seconds / first.all.bursts) <=
				1.96 * sqrt(mean2) + 1e-9;
	}
	for (int i = 0; i < 3; i++)
		ok(held[i] >= .90 * runs && held[i] <= .98 * runs,
				"the interval of the %s holds in %.1f%% of simulated runs",
				names[i], 100. * held[i] / runs);
}

int main(void)
{
	test_two_lengths();
	test_weights();
	test_certain();
	test_neighbours();
	test_short();
	test_slices();
	test_no_room();
	test_without_room();
	test_few_read();
	test_few_bursts();
	test_estimated();
	test_delayed();
	test_strays();
	test_coverage();
	return tap_done();
}
