/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the means of common events if only some bursts were read, and the lengths of all are known: how far they are
 * from those of all bursts, and whether their intervals hold these. Few bursts are delayed, which takes time and no
 * counts.
 */
#include "tests/tap.h"

#include <stdlib.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/mix.h"

enum { TRIALS = 300, BURSTS = 1500, PER_QUANTUM = 4 };

/* What the bursts of a run are. Lengths are in milliseconds, and the clock counts microseconds. */
struct course {
	double varies;      /* standard deviation of the work of a burst, as share of the mean */
	double delayed;     /* probability that a burst is delayed */
	double delay;       /* mean length of a delay */
	double read;        /* part of the bursts that is read */
	double only_unread; /* by how much bursts that are not read do more, as share */
	bool by_clock;      /* bursts compute until a time, so a delay may leave less to compute */
};

struct outcome {
	unsigned held;  /* intervals of the clock that hold the mean of all bursts */
	double error;   /* largest error of the clock, as share */
	double squares; /* mean square of the error, as share */
};

static double normal(uint64_t *state)
{
	double u = 1 - mix_uniform(state), v = mix_uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Runs the course once. Returns the estimate of the clock over its true mean, less 1. half: half-width of the interval. */
static double error_of(const struct course *course, uint64_t *state, double *half)
{
	struct plan plan;
	struct sums *sums;
	struct quantum *quantum;
	bool member[1] = { true };
	struct phase_unread unread = { 0 };
	struct phase_estimate estimate;
	double clock = 0;

	plan_pack(&plan, 2, 2, 2, NULL);
	sums = sums_new(&plan, 1);
	quantum = quantum_new(sums);
	quantum_label(quantum, 0, 1);
	for (unsigned i = 0; i < BURSTS; i++) {
		bool read = mix_uniform(state) < course->read;
		double work = fabs(2 * (1 + course->varies * normal(state)) *
				(read ? 1 : 1 + course->only_unread));
		double late = mix_uniform(state) < course->delayed ?
				-log(1 - mix_uniform(state)) * course->delay :
				0;
		uint64_t values[PLAN_GROUP_EVENTS_MAX] = { 0, 1000000 };

		if (course->by_clock)
			work -= fmin(late, work * mix_uniform(state));
		values[0] = (uint64_t)(1e6 * work);
		if (i % PER_QUANTUM == 0)
			quantum_close(quantum, sums);
		clock += (double)values[0];
		if (read) {
			quantum_add(quantum, 0,
					&(struct quantum_burst){ 0, 1, 1 / course->read,
							1e-3 * (work + late), values, false, i });
		} else {
			unread.bursts++;
			unread.seconds += 1e-3 * (work + late);
		}
	}
	quantum_close(quantum, sums);
	estimate_phase(sums, member, &unread, &estimate);
	quantum_free(quantum);
	sums_free(sums);
	*half = estimate.event[0].ci95 / (clock / BURSTS);
	return estimate.event[0].mean / (clock / BURSTS) - 1;
}

static struct outcome outcome_of(const char *name, const struct course *course)
{
	struct outcome out = { 0 };
	uint64_t state = 3;

	for (unsigned i = 0; i < TRIALS; i++) {
		double half, error = error_of(course, &state, &half);

		out.held += fabs(error) <= half;
		out.error = fmax(out.error, fabs(error));
		out.squares += error * error / TRIALS;
	}
	diag("%s: %u of %u intervals hold, error %.2f%% (root mean square), at most %.2f%%", name,
			out.held, TRIALS, 100 * sqrt(out.squares), 100 * out.error);
	return out;
}

int main(void)
{
	/* work that varies by 20%: 75 read bursts alone would be off by 2.3% */
	struct outcome varies =
			outcome_of("work varies", &(struct course){ .varies = .2, .read = .05 });
	/* equal work, and some delays of 1% to several times of a burst */
	struct outcome rare = outcome_of("rare long delays",
			&(struct course){ .varies = 1e-5,
					.delayed = .002,
					.delay = 20,
					.read = .05 });
	struct outcome small = outcome_of("small delays",
			&(struct course){ .varies = 1e-5,
					.delayed = .02,
					.delay = .02,
					.read = .05 });
	struct outcome both = outcome_of("small delays that vary",
			&(struct course){ .varies = 1e-3,
					.delayed = .02,
					.delay = .2,
					.read = .05 });
	struct outcome clock = outcome_of("until a time",
			&(struct course){ .varies = 1e-5,
					.delayed = .01,
					.delay = 2,
					.read = .05,
					.by_clock = true });
	/* none of the bursts that do more is read, as if ranks differed of which few read */
	struct outcome more = outcome_of("unread bursts do more",
			&(struct course){ .varies = 1e-3, .read = .05, .only_unread = .2 });

	ok(varies.held >= .9 * TRIALS && sqrt(varies.squares) < .01,
			"work that varies follows the lengths");
	ok(rare.held >= .9 * TRIALS && rare.error < .1, "delays that few bursts have");
	ok(small.held >= .9 * TRIALS && small.error < .1, "delays of 1%% of a burst");
	ok(both.held >= .9 * TRIALS && both.error < .1, "delays of 10%% of bursts that vary");
	ok(clock.held >= .9 * TRIALS && clock.error < .1, "bursts that end at a time");
	ok(more.held >= .9 * TRIALS, "work that only unread bursts do");
	return tap_done();
}
