/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations of a thread that are measured, beside a plain list of all of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/host/memory.h"
#include "agent/iterations/iterations.h"
#include "cluster/loops/iteration.h"
#include "cluster/loops/loops.h"
#include "sampling/clock.h"
#include "tests/tap.h"

#define SITES   12
#define PROGRAM 40000 /* most iterations of a program */
#define LENGTHS 40    /* lengths of bursts */

static uint64_t state = 42;

static unsigned draw(unsigned below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % below;
}

static struct thread *thread;

/* What the program has done in each of its iterations. */
static struct known {
	bool broken;
	uint64_t all;
	uint32_t ticks[LENGTHS];
} * known;
static unsigned rounds;

static void start(void)
{
	thread = calloc(1, sizeof(*thread));
	known = calloc(PROGRAM, sizeof(*known));
	if (!thread || !known)
		abort();
	thread->structure.loops = calloc(1, sizeof(struct loops));
	if (!thread->structure.loops)
		abort();
	loops_init(thread->structure.loops);
	iterations_open(thread);
	rounds = 0;
}

static void stop(void)
{
	memory_unmap(thread->structure.iterations, thread->structure.iterations_bytes);
	free(thread->structure.loops);
	free(known);
	free(thread);
}

/* Makes a call of a site, after a burst of one of the lengths. The burst belongs to the iteration in `known`. */
static void call(uint32_t site, unsigned length)
{
	uint32_t ticks = 100 + draw(1000);

	known[rounds].ticks[length] += ticks;
	known[rounds].all += ticks + 10;
	site_add(&thread->counts.ticks, ticks);
	site_add(&thread->counts.mpi_ticks, 10);
	iterations_burst(thread, length, ticks);
	iterations_call(thread, site);
	loops_add(thread->structure.loops, site, ticks, 10);
}

/* Looks for the iteration. */
static void look(void)
{
	thread->structure.iterations->due = 0;
	iterations_look(thread, 1);
}

/* A solver with another number of inner steps in each iteration, which ends with its first call. */
static void solve(unsigned iterations, unsigned break_every)
{
	for (unsigned i = 0; i < iterations; i++) {
		call(1, 1);
		rounds++;
		call(2, 2 + draw(3));
		for (unsigned inner = 2 + draw(5); inner; inner--) {
			call(3, 7);
			call(2, 8 + draw(2));
		}
		if (break_every && i % break_every == 0) {
			known[rounds].broken = true;
			iterations_break(thread);
		}
		/* the first text may show the inner loop alone */
		if (rounds % 8 == 0)
			look();
	}
}

/* Returns whether the iteration of the sample is the one of the program. */
static bool is_equal(const struct iteration_sample *sample, const struct sampled_iteration *got,
		const struct known *want)
{
	uint32_t ticks[LENGTHS] = { 0 };

	for (uint32_t i = got->first; i < got->first + got->parts; i++)
		ticks[sample->part[i].length] += (uint32_t)sample->part[i].ticks;
	return memcmp(ticks, want->ticks, sizeof(ticks)) == 0 && got->ticks == want->all &&
			!want->broken;
}

/* Returns how many of the sample's iterations are iterations of the program, in their order. */
static unsigned count_right(const struct iteration_sample *sample)
{
	unsigned right = 0, at = 0;

	for (uint32_t i = 0; i < sample->count; i++) {
		unsigned from = at;

		while (at <= rounds && !is_equal(sample, &sample->iteration[i], &known[at]))
			at++;
		if (at > rounds)
			at = from;
		else
			at++, right++;
	}
	return right;
}

static void finish(void)
{
	loops_finish(thread->structure.loops);
	iterations_finish(thread);
}

static void test_solver(unsigned iterations, unsigned break_every, const char *what)
{
	const struct iteration_sample *sample;
	unsigned right, least = iterations < 128 ? iterations / 4 : 60;

	start();
	solve(iterations, break_every);
	finish();
	sample = iterations_sample(thread);
	right = count_right(sample);
	if (break_every)
		least -= least / break_every + 1;
	ok(right == sample->count && right >= least && iteration_sample_is_valid(sample),
			"%s: %u of the %u iterations that were measured are those of the program",
			what, right, sample->count);
	stop();
}

/* The loop in the whole text is another one than that which was measured first. */
static void test_other_loop(void)
{
	const struct iteration_sample *sample;

	start();
	for (unsigned i = 0; i < 50; i++) {
		call(5, 3);
		call(6, 4);
		if (i == 10)
			look();
	}
	ok(iterations_sample(thread)->count > 30, "a first loop is measured: %u iterations",
			iterations_sample(thread)->count);
	for (unsigned i = 0; i < 2000; i++) {
		call(7, 5);
		call(8, 6);
	}
	finish();
	ok(iterations_sample(thread)->count == 0,
			"another loop with most of the time has no sample, if it is not looked for");
	stop();
	start();
	for (unsigned i = 0; i < 50; i++) {
		call(5, 3);
		call(6, 4);
		look();
	}
	for (unsigned i = 0; i < 2000; i++) {
		call(7, 5);
		call(8, 6);
		look();
	}
	finish();
	sample = iterations_sample(thread);
	ok(sample->count >= 60 && sample->part[0].length >= 5, "else it is measured: %u iterations",
			sample->count);
	stop();
}

/* ---- anchors ---- */

/* A program: `length` tokens, each a call or a row of calls, or an inner loop of calls. */
struct token {
	uint32_t first, calls; /* symbols in a row */
	bool rows, varies;
};

static unsigned make_round(const struct token *token, unsigned length, uint32_t *calls)
{
	unsigned made = 0;

	for (unsigned t = 0; t < length; t++) {
		unsigned times = !token[t].rows ? 1 : token[t].varies ? 2 + draw(3) : 3;

		for (unsigned i = 0; i < times; i++)
			for (uint32_t c = 0; c < token[t].calls; c++)
				calls[made++] = (token[t].first + c) % SITES;
	}
	return made;
}

/* Returns whether each round but the first and the last one has the anchor exactly once. */
static bool is_in_each(const struct anchor *anchor, const uint32_t *calls, const unsigned *ends,
		unsigned count)
{
	for (unsigned round = 1; round + 1 < count; round++) {
		unsigned found = 0;

		for (unsigned at = ends[round - 1]; at < ends[round]; at++)
			found += calls[at - 1] == anchor->before && calls[at] == anchor->at;
		if (found != 1)
			return false;
	}
	return true;
}

static void test_anchors(void)
{
	static uint32_t calls[100000];
	unsigned found = 0, right = 0, none = 0;

	for (unsigned trial = 0; trial < 2000; trial++) {
		struct loops *loops = calloc(1, sizeof(*loops));
		unsigned length = 1 + draw(6), made = 0, ends[40];
		struct token token[6];
		struct iteration iteration;
		struct anchor anchor;

		if (!loops)
			abort();
		loops_init(loops);
		for (unsigned t = 0; t < length; t++)
			token[t] = (struct token){ draw(SITES), 1 + draw(3), draw(3) == 0,
				draw(2) == 0 };
		for (unsigned round = 0; round < 40; round++) {
			made += make_round(token, length, &calls[made]);
			ends[round] = made;
		}
		for (unsigned i = 0; i < made; i++)
			loops_add(loops, calls[i], 1000, 10);
		loops_finish(loops);
		/* a round may consist of equal parts, or of one call, and then it is another loop */
		if (iteration_find(loops, NULL, &iteration) && iteration.rounds >= 39 &&
				iteration.rounds <= 40) {
			bool has = anchor_find(loops, iteration.cell, &anchor);

			found += has;
			none += !has;
			right += has && anchor_is_of(loops, iteration.cell, &anchor) &&
					is_in_each(&anchor, calls, ends, 40);
		}
		free(loops);
	}
	ok(found > 500 && right == found,
			"%u of %u anchors are in each round exactly once (%u loops have none)",
			right, found, none);
}

/* ---- the sample ---- */

static void test_sample(void)
{
	static struct iteration_sample sample;
	struct iteration_part part[ITERATION_PARTS_EACH];
	const struct anchor anchor = { 1, 2 };
	uint32_t wait, measured = 0, widest = 0;
	double sum = 0, at = 0;

	iteration_sample_start(&sample, &anchor);
	wait = iteration_sample_draw(&sample);
	for (uint32_t i = 0; i < 1000000; i++) {
		if (wait--)
			continue;
		/* long and short ones in turn */
		part[0] = (struct iteration_part){ i % LENGTHS, (float)i };
		iteration_sample_add(&sample, i % 2 ? 300 : 100, part, 1);
		wait = iteration_sample_draw(&sample);
		measured++;
	}
	for (uint32_t i = 0; i < sample.count; i++) {
		uint32_t index = (uint32_t)sample.part[sample.iteration[i].first].ticks;

		sum += (double)sample.iteration[i].ticks;
		widest = i && index - at > widest ? (uint32_t)(index - at) : widest;
		at = index;
	}
	ok(sample.count > 48 && sample.count <= ITERATION_SAMPLE_MAX && measured < 1500,
			"of a million iterations %u are measured, and %u kept", measured,
			sample.count);
	ok(fabs(sum / sample.count - 200) < 50,
			"those that are long in turn are half of them: mean %.0f",
			sum / sample.count);
	ok(widest <= 4 * sample.stride && 1000000 - at <= 4 * sample.stride,
			"they are spread over all of the time: at most %u apart, with a stride of %u",
			widest, sample.stride);
	for (unsigned i = 0; i < ITERATION_PARTS_EACH; i++)
		part[i] = (struct iteration_part){ i, 1 };
	for (unsigned i = 0; i < 100; i++)
		iteration_sample_add(&sample, 7, part, ITERATION_PARTS_EACH);
	ok(iteration_sample_is_valid(&sample) && sample.count >= 4 &&
					sample.iteration[sample.count - 1].parts ==
							ITERATION_PARTS_EACH,
			"iterations with many parts have room, %u of them", sample.count);
	sample.iteration[1].first = sample.parts;
	ok(!iteration_sample_is_valid(&sample), "parts outside of the sample are refused");
	sample.iteration[1].first = 0;
	sample.part[3].length = LENGTHS_MAX;
	ok(!iteration_sample_is_valid(&sample), "a length outside of the table is refused");
	sample.part[3] = (struct iteration_part){ 0, NAN };
	ok(!iteration_sample_is_valid(&sample), "a time that is no number is refused");
	sample.part[3].ticks = 1;
	sample.count = ITERATION_SAMPLE_MAX + 1;
	ok(!iteration_sample_is_valid(&sample), "too many iterations are refused");
}

int main(void)
{
	clock_calibrate(&(struct clock_moment){ 0, 0 });
	test_solver(100, 0, "a solver");
	test_solver(30000, 0, "a long run");
	test_solver(500, 5, "with calls that were not observed");
	test_other_loop();
	test_anchors();
	test_sample();
	return tap_done();
}
