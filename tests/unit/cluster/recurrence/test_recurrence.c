/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rounds that differ must be found, and none in sequences without order.
 * `test_recurrence SEED SEQUENCES` makes that many random sequences of each shape.
 */
#include <stdlib.h>

#include "cluster/recurrence/recurrence.h"
#include "tests/random.h"
#include "tests/tap.h"

#define KINDS_MAX 60

static struct recurrences calls;

static void start(void)
{
	memset(&calls, 0, sizeof(calls));
}

/* Makes a call, whose time has a heavy tail. */
static void call(unsigned symbol)
{
	recurrence_add(&calls, symbol, (uint64_t)(100 / (uniform() + 1e-6)));
}

static struct recurrence found(void)
{
	return recurrence_find(&calls, calls.calls);
}

/* ---- sequences without order ---- */

/* A random sequence under way: how many kinds of calls it has, and how often each comes. */
struct sequence {
	unsigned kinds, calls;
	double until[KINDS_MAX]; /* of a random number for this kind or one below it */
	unsigned likely[KINDS_MAX], last;
};

static unsigned draw(const struct sequence *sequence)
{
	double number = uniform() * sequence->until[sequence->kinds - 1];
	unsigned kind = 0;

	while (sequence->until[kind] <= number)
		kind++;
	return kind;
}

static void make_alike(struct sequence *sequence)
{
	call(draw(sequence));
}

/* Each call is made some times in a row. */
static void make_runs(struct sequence *sequence)
{
	unsigned kind = draw(sequence);

	for (unsigned i = 1 + below(8); i; i--)
		call(kind);
}

/* Calls that always come together, three at a time. */
static void make_blocks(struct sequence *sequence)
{
	unsigned kind = draw(sequence);

	for (unsigned i = 0; i < 3; i++)
		call(3 * kind + i);
}

/* What comes next depends on the last call: mostly one of three. */
static void make_chain(struct sequence *sequence)
{
	sequence->last = below(4) ?
			(sequence->likely[sequence->last] + below(3)) % sequence->kinds :
			draw(sequence);
	call(sequence->last);
}

/* Which calls are frequent changes slowly. */
static void make_drift(struct sequence *sequence)
{
	double part = (double)calls.calls / sequence->calls;
	unsigned kind = draw(sequence);

	call(uniform() < part ? kind : sequence->kinds - 1 - kind);
}

static const struct {
	const char *name;
	void (*make)(struct sequence *sequence);
	bool skewed; /* some kinds are much more frequent than others */
} shapes[] = {
	{ "independent calls", make_alike, false },
	{ "independent calls of which some are frequent", make_alike, true },
	{ "runs of one call", make_runs, true },
	{ "blocks of three calls", make_blocks, false },
	{ "a chain of dependent calls", make_chain, true },
	{ "frequencies that change", make_drift, true },
};

static void make_sequence(struct sequence *sequence, size_t shape)
{
	double sum = 0;

	*sequence = (struct sequence){ .kinds = 3 + below(KINDS_MAX - 2),
		.calls = 100 << below(7) };
	for (unsigned kind = 0; kind < sequence->kinds; kind++) {
		sum += shapes[shape].skewed ? 1e-3 + uniform() * uniform() * uniform() : 1;
		sequence->until[kind] = sum;
		sequence->likely[kind] = below(sequence->kinds);
	}
	start();
	while (calls.calls < sequence->calls)
		shapes[shape].make(sequence);
}

static void test_random(unsigned count)
{
	for (size_t shape = 0; shape < sizeof(shapes) / sizeof(shapes[0]); shape++) {
		unsigned invented = 0;

		for (unsigned i = 0; i < count; i++) {
			struct sequence sequence;
			struct recurrence recurrence;

			make_sequence(&sequence, shape);
			recurrence = found();
			if (recurrence.rounds > 0 && invented++ < 3)
				diag("%u kinds, %u calls: %.0f rounds of %.1f calls, likeness %.2f",
						sequence.kinds, sequence.calls, recurrence.rounds,
						recurrence.calls, recurrence.likeness);
		}
		ok(!invented, "%s: %u of %u sequences have rounds", shapes[shape].name, invented,
				count);
	}
}

/* ---- rounds with noise ---- */

enum noise { REPLACED, INSERTED, DELETED, MIXED, NOISES };

static const char *const noises[NOISES] = { "replaced", "inserted", "deleted",
	"replaced, inserted or deleted" };

static void make_noisy_call(unsigned symbol, unsigned kinds, double share, enum noise noise)
{
	bool noisy = uniform() < share;

	if (noise == MIXED)
		noise = (enum noise)below(MIXED);
	if (!noisy || noise == INSERTED)
		call(symbol);
	if (noisy && noise != DELETED)
		call(below(kinds));
}

/* The round is found within one call, or 3% of it. In few sequences it may be missed or wrong, more of them with much noise. */
static void test_noise(unsigned period, unsigned percent, enum noise noise)
{
	const unsigned rounds = 200, tries = 50;
	unsigned missed = 0, wrong = 0;
	double worst = 0;

	for (unsigned i = 0; i < tries; i++) {
		struct recurrence recurrence;
		double off;

		start();
		for (unsigned round = 0; round < rounds; round++)
			for (unsigned symbol = 0; symbol < period; symbol++)
				make_noisy_call(symbol, period, percent / 100.0, noise);
		recurrence = found();
		if (!(recurrence.rounds > 0)) {
			missed++;
			continue;
		}
		off = fabs(recurrence.calls - (double)calls.calls / rounds);
		wrong += off > fmax(1, 0.03 * period);
		worst = fmax(worst, off);
	}
	if (!ok(wrong + missed <= (percent < 20 ? tries / 25 : tries / 10),
			    "%u calls, %u%% %s: the round is found", period, percent,
			    noises[noise]))
		diag("%u of %u wrong, worst by %.2f calls, %u missed", wrong, tries, worst, missed);
}

/* ---- rounds that differ on purpose ---- */

/* Each round has some of eight calls, in another order, and ends with a norm. */
static void make_adaptive(unsigned rounds)
{
	start();
	for (unsigned round = 0; round < rounds; round++) {
		unsigned order[8] = { 0, 1, 2, 3, 4, 5, 6, 7 };

		for (unsigned i = 8; i; i--) {
			unsigned place = below(i), kind = order[place];

			order[place] = order[i - 1];
			if (below(4))
				call(1 + kind);
		}
		call(9);
	}
}

static void test_adaptive(void)
{
	struct recurrence recurrence;

	make_adaptive(400);
	recurrence = found();
	is_int(recurrence.symbol, 9,
			"rounds of other calls in another order: the call that each of them has is found");
	ok(fabs(recurrence.rounds - 400) < 20, "about as many rounds: %.1f", recurrence.rounds);
	ok(fabs(recurrence.calls - 7) < 0.5, "of as many calls: %.2f", recurrence.calls);
	ok(recurrence.likeness > 0.6 && recurrence.likeness < 0.95, "which are alike in part: %.2f",
			recurrence.likeness);
	ok(recurrence.time_share > 0.9 && recurrence.time_share <= 1, "with all of the time: %.3f",
			recurrence.time_share);
	make_adaptive(25);
	ok(!(found().rounds > 0), "25 of them may have no order");
}

static void test_equal(void)
{
	struct recurrence recurrence;

	start();
	for (unsigned round = 0; round < 60; round++) {
		for (unsigned symbol = 0; symbol < 10; symbol++)
			recurrence_add(&calls, symbol, 10);
		/* its rounds are twice as long */
		if (round % 2)
			recurrence_add(&calls, 10, 0);
	}
	recurrence = found();
	ok(recurrence.likeness > 0.85 && recurrence.symbol != 10,
			"of two periods, the shorter one is found");
	ok(fabs(recurrence.rounds * recurrence.calls - 630) < 24,
			"rounds have all calls: %.1f of %.1f", recurrence.rounds, recurrence.calls);
	ok(fabs(recurrence.ticks - 100) < 4, "and the time between them: %.1f", recurrence.ticks);
	recurrence = recurrence_find(&calls, 4 * calls.calls);
	ok(fabs(recurrence.rounds * recurrence.calls - 4 * 630) < 96,
			"calls that were not observed were made in other rounds");
	ok(!(recurrence_find(&calls, 5 * calls.calls).rounds > 0),
			"but not if they are most of all calls");
	ok(!(recurrence_find(NULL, 0).rounds > 0), "nothing is found without calls");
}

/* Regular calls that have less than half of the time make no iteration. */
static void test_share(void)
{
	for (unsigned part = 40; part <= 60; part += 20) {
		start();
		for (unsigned i = 0; i < 10 * part; i++)
			recurrence_add(&calls, i % 5, 1);
		for (unsigned i = 0; i < 10 * (100 - part); i++)
			recurrence_add(&calls, 5 + below(20), 1);
		ok((found().rounds > 0) == (part > 50), "regular calls with %u%% of the time: %s",
				part, part > 50 ? "they are rounds" : "they are none");
	}
}

/* Between calls that were missed, rounds are found, and none of them has missed calls in it. */
static void test_missed(void)
{
	struct recurrence recurrence;

	start();
	for (unsigned i = 0; i < 4000; i++) {
		call(i % 8);
		if (i % 100 == 99) {
			i += below(50);
			recurrence_miss(&calls);
		}
	}
	recurrence = found();
	ok(recurrence.likeness == 1 && recurrence.calls == 8,
			"calls were missed: rounds are found between them");
}

/* A call whose path has no room is part of the rounds. */
static void test_many_paths(void)
{
	struct recurrence recurrence;

	start();
	for (unsigned i = 0; i < 1000; i++)
		call(i % 5 == 0 ? 3 : RECURRENCE_PATHS + i % 5);
	recurrence = found();
	ok(recurrence.symbol == 3 && recurrence.calls == 5,
			"calls of more paths than have room are part of rounds");
}

int main(int argc, char **argv)
{
	static const unsigned periods[] = { 5, 12, 30, 62 };

	random_state = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	test_random(argc > 2 ? (unsigned)atoi(argv[2]) : tap_cases(2000));
	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++)
		for (enum noise noise = 0; noise < NOISES; noise++)
			for (unsigned share = 5; share <= 20; share *= 2)
				test_noise(periods[i], share, noise);
	test_adaptive();
	test_equal();
	test_share();
	test_missed();
	test_many_paths();
	return tap_done();
}
