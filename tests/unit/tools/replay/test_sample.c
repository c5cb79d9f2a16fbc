/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of long loops that are left out: where the rank then is, and for how many calls the others stand. */
#include "multiplex/mix.h"
#include "tests/tap.h"
#include "tools/replay/plan/cursor.h"
#include "tools/replay/plan/values.h"

#include <math.h>
#include <stdlib.h>

#define CALLS       24 /* of a window: 8 rounds of three calls */
#define STREAMS     300
#define STREAM_TEXT 4000
#define DEPTH       4

static struct plan *plan_of(const char *text)
{
	char *copy = strdup(text);
	struct plan *plan = copy ? plan_parse(copy, strlen(copy)) : NULL;

	free(copy);
	return plan;
}

/* ---- values ---- */

static size_t add_stream(char *text, size_t length, uint64_t *random, unsigned depth)
{
	unsigned items = 1 + (unsigned)(mix_next(random) % 3);

	length += (size_t)snprintf(text + length, STREAM_TEXT - length, " %u", items);
	for (unsigned i = 0; i < items; i++) {
		length += (size_t)snprintf(text + length, STREAM_TEXT - length, " %u",
				1 + (unsigned)(mix_next(random) % 5));
		if (depth < DEPTH && mix_next(random) % 2) {
			length += (size_t)snprintf(text + length, STREAM_TEXT - length, " (");
			length = add_stream(text, length, random, depth + 1);
		} else {
			length += (size_t)snprintf(text + length, STREAM_TEXT - length, " %u",
					(unsigned)(mix_next(random) % 3));
		}
	}
	return length;
}

/* Returns whether what is promised to come again does. all: the values, one by one. */
static bool repeats_truly(const struct values *values, const int64_t *all, size_t count,
		size_t from)
{
	uint64_t period = values->at - from, repeat = values_repeat(values, from, period);

	for (size_t i = 0; i < repeat && values->at + i < count; i++)
		if (all[values->at + i] != all[values->at + i - period])
			return false;
	return true;
}

/* Returns whether values after those that are left out are the right ones. */
static bool skips_truly(const struct plan_argument *argument, uint64_t *random, unsigned *promised)
{
	size_t count = argument->values[0].stream.length + 5, from = 0;
	int64_t *all = calloc(count, sizeof(*all));
	struct values one = { 0 }, other = { 0 };
	bool good = all && values_find(&one, argument, 0) && values_find(&other, argument, 0);

	for (size_t i = 0; good && i < count; i++)
		all[i] = values_next(&one);
	while (good && other.at < count - 1) {
		from = mix_next(random) % 2 ? other.at : from;
		values_skip(&other, mix_next(random) % (count - other.at));
		*promised += values_repeat(&other, from, other.at - from) > 0;
		good = repeats_truly(&other, all, count, from);
		if (mix_next(random) % 2 && other.at < count)
			good = good && all[other.at] == values_next(&other);
	}
	values_fini(&one);
	values_fini(&other);
	free(all);
	return good;
}

static void test_values(void)
{
	uint64_t random = 1;
	unsigned good = 0, promised = 0;

	for (unsigned i = 0; i < STREAMS; i++) {
		char text[2 * STREAM_TEXT], stream[STREAM_TEXT] = "";
		struct plan *plan;

		add_stream(stream, 0, &random, 1);
		snprintf(text, sizeof(text),
				"phasemux_replay_plan 2 ranks 1 seconds 1 call_most 1 bytes_most 0 phases 0 paths 1 "
				"0 1 1 0 1 1 9 ? %s 0 0 0 0 0 0 0 0 0 0 0 0 structures 0 end",
				stream);
		plan = plan_of(text);
		good += plan && skips_truly(&plan->path[0].argument[0], &random, &promised);
		plan_free(plan);
	}
	is_int(good, STREAMS,
			"values behind those that are left out, and those that are said to come again");
	ok(promised > STREAMS / 10, "some are said to (%u)", promised);
}

/* ---- calls ---- */

#define HEAD                                                                                          \
	"phasemux_replay_plan 2 ranks 1 seconds 1 call_most 1 bytes_most 0 phases 0 paths 1 0 0 0 0 " \
	"1 1 0 1 1 200000 ? "
#define CALL(name, path) "call " name " " path " -1 0 0 0 0 "

/* Sums in a loop of 50,000 rounds, each of which has two of them, and 3,000 barriers in a row behind it. */
#define LONG(bytes)                                                                                \
	HEAD bytes " 0 0 0 0 0 0 0 0 0 structures 1 2 loop 2 " CALL("MPI_Allreduce", "0")          \
			CALL("MPI_Scan", "-1") CALL("MPI_Barrier",                                 \
					"-1") "1 1 0 1 1 -1 1 50000 1 1 2 1 1 1 1 1 3000 1 end"

struct walk {
	double calls, weights[3]; /* weights: sums of each kind */
	double bytes;             /* mean of the sums, by their weights */
	bool starts, ends;        /* the first and the last value were taken */
};

static struct walk walk_through(const char *text, uint64_t calls, uint64_t seed)
{
	struct plan *plan = plan_of(text);
	struct walk walk = { 0 };
	struct sample sample;
	char why[200];
	struct cursor *cursor;
	struct cursor_call call;

	if (!plan)
		return walk;
	sample_init(&sample, plan, calls, seed);
	cursor = cursor_new(plan, 0, 0, &sample, why, sizeof(why));
	while (cursor && cursor_next(cursor, &call) == CURSOR_CALL) {
		int64_t bytes = call.value[ARGUMENT_BYTES];

		walk.calls++;
		walk.weights[call.token->call == CALL_ALLREDUCE               ? 0 :
						call.token->call == CALL_SCAN ? 1 :
										2] += call.weight;
		if (call.token->call == CALL_ALLREDUCE) {
			walk.bytes += call.weight * (double)bytes;
			walk.starts |= bytes == 1;
			walk.ends |= bytes == 99;
		}
	}
	walk.bytes /= walk.weights[0];
	cursor_free(cursor);
	sample_fini(&sample);
	plan_free(plan);
	return walk;
}

/* Returns how many calls are gone through. calls: of a window. */
static double calls_of(const struct plan *plan, uint64_t calls)
{
	struct sample sample;
	double all = plan && sample_init(&sample, plan, calls, 1) ? sample_calls(&sample, plan) :
								    -1;

	if (plan)
		sample_fini(&sample);
	return all;
}

static void test_calls(void)
{
	static const char text[] = LONG("5 1 1 49999 8 49998 16 1 8 1 99");
	struct walk all = walk_through(text, 0, 1), some = walk_through(text, CALLS, 1),
		    other = walk_through(text, CALLS, 2);
	struct plan *plan = plan_of(text);

	is_int((long long)all.calls, 153000, "without a sample, all calls are made");
	ok(all.weights[0] == 100000 && all.weights[1] == 50000 && all.weights[2] == 3000,
			"and each stands for itself");
	is_int((long long)some.calls, SAMPLE_WINDOWS * (8 * 3 + CALLS),
			"a sample has the rounds of its windows");
	ok(fabs(some.weights[0] - 100000) < 1e-6 && fabs(some.weights[1] - 50000) < 1e-6 &&
					fabs(some.weights[2] - 3000) < 1e-6,
			"which together stand for all");
	ok(some.starts && some.ends, "the first and the last round are among them");
	ok(fabs(some.bytes / all.bytes - 1) < .02, "and arguments from all of the run: %g of %g",
			some.bytes, all.bytes);
	ok(other.bytes != 0 && fabs(other.bytes / all.bytes - 1) < .02,
			"other windows have others");
	is_int((long long)calls_of(plan, CALLS), (long long)some.calls,
			"the number of calls is known before");
	is_int(plan ? (long long)sample_choose(plan, 153000) : -1, 0, "a short run has no sample");
	ok(plan && calls_of(plan, sample_choose(plan, 10000)) <= 10000 &&
					calls_of(plan, sample_choose(plan, 10000)) > 5000,
			"a long one has as many calls as there may be");
	ok(plan && sample_choose(plan, 10) > 0, "or as few as a sample can have");
	plan_free(plan);
}

/* Loops in loops, none of which is long by itself. */
static void test_nested(void)
{
	static const char text[] = HEAD
			"1 60000 8 0 0 0 0 0 0 0 0 0 structures 1 1 loop 1 loop 1 loop 1 " CALL(
					"MPI_Allreduce",
					"0") "1 1 0 1 1 -1 1 60 1 1 20 1 1 50 1 1 1 1 end";
	struct plan *plan = plan_of(text);
	uint64_t calls = plan ? sample_choose(plan, 6000) : 0;
	struct walk some = walk_through(text, calls, 1);

	ok(calls && some.calls <= 6000, "of loops in loops, %.0f of 60000 calls are made",
			some.calls);
	ok(fabs(some.weights[0] - 60000) < 1e-6, "which stand for all");
	plan_free(plan);
}

/* Loops whose numbers of rounds differ by one have the same rounds left out. */
static void test_windows(void)
{
	struct sample_loop loop[] = { { 1000, 8 }, { 5000, 8 } };
	struct sample sample = { .seed = 3, .loops = 2, .loop = loop };
	bool same = true, in_order = true;
	double sum = 0;
	uint64_t before = 0;

	for (unsigned i = 0; i < SAMPLE_WINDOWS; i++) {
		struct sample_window one = sample_window(&sample, sample_find(&sample, 1000), 1000,
						     i),
				     other = sample_window(&sample, sample_find(&sample, 1001),
						     1001, i);

		same &= one.first == other.first && one.weight == other.weight;
		in_order &= one.first >= before;
		before = one.first + one.count;
		sum += one.weight * (double)one.count;
	}
	ok(sample_find(&sample, 1002) == &loop[0] && !sample_find(&sample, 1003) &&
					!sample_find(&sample, 999),
			"a long loop is found by its number of rounds");
	ok(same, "1,000 and 1,001 rounds have the same windows");
	ok(in_order && before == 1000 && fabs(sum - 1000) < 1e-9,
			"which come one after the other, and stand for all rounds");
	ok(sample_window(&sample, sample_find(&sample, 5000), 5000, 1).first !=
					sample_window(&sample, sample_find(&sample, 1000), 1000, 1)
							.first,
			"another loop has others");
}

int main(void)
{
	test_values();
	test_calls();
	test_nested();
	test_windows();
	return tap_done();
}
