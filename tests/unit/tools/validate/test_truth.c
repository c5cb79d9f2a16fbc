/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests multiplexing of a made-up program whose every counter is known. Its ranks are not balanced, it drifts
 * in time, and it has rare outliers. One counter keeps step with the program's period. The estimates must be
 * better than plain means if they can be. The intervals must hold the truth as often as they say.
 */
#include "tests/tap.h"

#include <stdlib.h>

#include "multiplex/mix.h"
#include "tools/validate/replay.h"

enum {
	CYCLES,
	INSTRUCTIONS,
	BRANCHES, /* depends on instructions */
	STALLS,   /* depends on cycles */
	MISSES,   /* depends on neither; one burst in 100 has five times as many */
	WALKS,    /* drifts in time, and keeps step with a period of 14 bursts */
	EVENTS,
};

enum { TASKS = 20, PHASES = 2, BURSTS_MAX = 1000 };

static struct {
	uint32_t task[TASKS * BURSTS_MAX], phase[TASKS * BURSTS_MAX];
	double begin[TASKS * BURSTS_MAX], seconds[TASKS * BURSTS_MAX];
	uint64_t values[TASKS * BURSTS_MAX * EVENTS];
} made;

static double normal(uint64_t *state)
{
	double u = 1 - mix_uniform(state), v = mix_uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/*
 * Makes bursts of two phases in turn, about 2 ms each. noise: scales the variation of MISSES and STALLS. drift:
 * what WALKS has gained at the end, relative to its start.
 */
static struct replay_bursts make(unsigned per_task, double noise, double drift, uint64_t seed)
{
	uint64_t state = seed;
	size_t n = 0;

	for (unsigned task = 0; task < TASKS; task++) {
		double now = 1e-3 * mix_uniform(&state);
		double imbalance = 1 + .3 * (task - 9.5) / 9.5;

		for (unsigned i = 0; i < per_task; i++, n++) {
			double size = i % 2 ? 4e6 : 2e6;
			double instructions = size * imbalance * (1 + .02 * normal(&state));
			double cycles = instructions * (1.2 + .15 * normal(&state));
			double misses = .01 * size * (1 + noise * .2 * normal(&state));
			double walks = .005 * size * (1 + drift * i / per_task) *
					(1 + .2 * sin(2 * M_PI * i / 14.));
			uint64_t *row = &made.values[n * EVENTS];

			if (mix_uniform(&state) < .01)
				misses *= 5;
			row[CYCLES] = cycles;
			row[INSTRUCTIONS] = instructions;
			row[BRANCHES] = .15 * instructions * (1 + .03 * normal(&state));
			row[STALLS] = .4 * cycles * (1 + noise * .06 * normal(&state));
			row[MISSES] = fmax(misses, 0);
			row[WALKS] = walks * (1 + .2 * normal(&state));
			made.task[n] = task;
			made.phase[n] = 1 + i % 2;
			made.begin[n] = now;
			made.seconds[n] = cycles / 2e9;
			now += made.seconds[n] + 2e-4 * mix_uniform(&state);
		}
	}
	return (struct replay_bursts){ n, made.task, made.begin, made.seconds, made.phase, PHASES,
		made.values };
}

static void set_up(struct replay_setup *setup, enum scheme_kind scheme, double read,
		unsigned trials)
{
	memset(setup, 0, sizeof(*setup));
	plan_pack(&setup->plan, EVENTS, 2, 3, NULL);
	setup->scheme = scheme;
	setup->quantum = 10e-3;
	setup->read = read;
	setup->trials = trials;
	setup->seed = 1;
}

/* Adds up the cells of several programs, so that the result does not depend on one program. */
static void replay_many(enum scheme_kind scheme, double drift, double read, unsigned programs,
		unsigned trials, struct replay_cell total[PHASES * EVENTS])
{
	struct replay_cell cells[PHASES * EVENTS];
	struct replay_setup setup;

	memset(total, 0, PHASES * EVENTS * sizeof(*total));
	set_up(&setup, scheme, read, trials);
	for (unsigned program = 0; program < programs; program++) {
		struct replay_bursts bursts = make(600, 1, drift, 1000 + program);

		setup.seed = program;
		replay_run(&bursts, &setup, cells);
		for (unsigned i = 0; i < PHASES * EVENTS; i++) {
			total[i].stated += cells[i].stated;
			total[i].covered += cells[i].covered;
			total[i].seen += cells[i].seen;
			total[i].error += cells[i].error / programs;
			total[i].plain += cells[i].plain / programs;
			total[i].width += cells[i].width / programs;
		}
	}
}

/* Tests a scheme on `programs` programs, with 50 trials each. */
static void test_scheme(enum scheme_kind scheme, double read, unsigned programs)
{
	struct replay_cell cells[PHASES * EVENTS];
	struct replay_summary summary;
	struct plan plan;

	replay_many(scheme, .2, read, programs, 50, cells);
	plan_pack(&plan, EVENTS, 2, 3, NULL);
	replay_summarise(cells, PHASES, &plan, 50 * programs, &summary);
	for (unsigned e = BRANCHES; e <= STALLS && read >= 1; e++)
		for (unsigned phase = 0; phase < PHASES; phase++) {
			struct replay_cell *cell = &cells[phase * EVENTS + e];

			ok(cell->error <= .5 * cell->plain,
					"%s, %s, phase %u: %.4f%% is at most half of %.4f%%",
					scheme_name(scheme), e == STALLS ? "stalls" : "branches",
					phase + 1, 100 * cell->error, 100 * cell->plain);
		}
	/*
	 * a burst of twice as many branches would show in its instructions, so the interval has no reserve for
	 * it
	 */
	for (unsigned phase = 0; phase < PHASES && read >= 1; phase++) {
		struct replay_cell *cell = &cells[phase * EVENTS + BRANCHES];

		ok(cell->width <= 4.5 * cell->error,
				"the intervals of branches are no wider than they "
				"need be: +- %.4f%%",
				100 * cell->width);
	}
	ok(summary.coverage >= .9 && summary.coverage <= .98,
			"%s, %g read: %.1f%% of %u trials' intervals hold the truth",
			scheme_name(scheme), read, 100 * summary.coverage, 50 * programs);
	for (unsigned i = 0; i < PHASES * EVENTS; i++)
		if (i % EVENTS >= 2)
			diag("phase %u event %u: error %.4f%% plain %.4f%% covered %.1f%% stated "
			     "%u +- %.4f%%",
					i / EVENTS + 1, i % EVENTS, 100 * cells[i].error,
					100 * cells[i].plain,
					100. * cells[i].covered / cells[i].stated, cells[i].stated,
					100 * cells[i].width);
}

/* Returns the largest of the cells' mean weighted errors. */
static double largest_error(enum scheme_kind scheme, unsigned per_task)
{
	struct replay_cell cells[PHASES * EVENTS];
	struct replay_setup setup;
	double sum[PHASES * EVENTS] = { 0 }, largest = 0;

	set_up(&setup, scheme, 1, 20);
	for (unsigned program = 0; program < 10; program++) {
		struct replay_bursts bursts = make(per_task, 3, .2, 2000 + program);

		replay_run(&bursts, &setup, cells);
		for (unsigned i = 0; i < PHASES * EVENTS; i++)
			if (i % EVENTS >= 2)
				sum[i] += cells[i].error / 10;
	}
	for (unsigned i = 0; i < PHASES * EVENTS; i++)
		largest = fmax(largest, sum[i]);
	return largest;
}

static void test_adaptive(void)
{
	double even = largest_error(SCHEME_TIME_SPACE, 1000);
	double adaptive = largest_error(SCHEME_ADAPTIVE, 600);

	ok(adaptive <= even,
			"adaptive needs at most 60%% of the bursts: %.4f%% with 600 a rank, "
			"time-space %.4f%% with 1,000",
			100 * adaptive, 100 * even);
}

/* After adaptive has learnt, groups have other shares than before, and the counter has other values. */
static void test_drift(void)
{
	struct replay_cell cells[PHASES * EVENTS];

	replay_many(SCHEME_ADAPTIVE, 1, 1, 20, 20, cells);
	for (unsigned phase = 0; phase < PHASES; phase++) {
		struct replay_cell *cell = &cells[phase * EVENTS + WALKS];

		ok(cell->covered >= .9 * cell->stated,
				"adaptive, a counter that doubles, phase %u: %.1f%% of the intervals hold",
				phase + 1, 100. * cell->covered / cell->stated);
		ok(cell->error <= .6 * cell->plain,
				"%.4f%% is at most 60%% of the plain mean's %.4f%%",
				100 * cell->error, 100 * cell->plain);
	}
}

int main(void)
{
	for (unsigned scheme = 0; scheme < SCHEME_NONE; scheme++) {
		test_scheme(scheme, 1, 20);
		test_scheme(scheme, .2, 8);
	}
	test_adaptive();
	test_drift();
	return tap_done();
}
