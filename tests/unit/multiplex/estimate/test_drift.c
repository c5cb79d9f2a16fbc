/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the drift of a phase against lines that are known, and how often its interval covers them. */
#include "tests/tap.h"

#include <stdlib.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/mix.h"

enum { TRIALS = 400, BURSTS = 1200, PER_QUANTUM = 20 };

/* What a run of 100 s does. */
struct course {
	double grows;   /* share of the mean length by which bursts grow over the run */
	double varies;  /* standard deviation of a burst, as share of the mean */
	double quantum; /* the same of all bursts of a quantum together */
	double read;    /* part of the bursts that is read */
};

static double normal(uint64_t *state)
{
	double u = 1 - mix_uniform(state), v = mix_uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

static struct drift drift_of(const struct course *course, uint64_t *state, unsigned bursts)
{
	struct plan plan;
	struct sums *sums;
	struct quantum *quantum;
	bool member[2] = { true, true };
	struct drift drift;
	double shared = 0;

	plan_pack(&plan, 2, 2, 2, NULL);
	sums = sums_new(&plan, 2);
	quantum = quantum_new(sums);
	for (unsigned p = 0; p < 2; p++)
		quantum_label(quantum, p, 1);
	for (unsigned i = 0; i < bursts; i++) {
		uint64_t values[PLAN_GROUP_EVENTS_MAX] = { 1000, 1000 };
		double when = 100. * i / bursts;

		if (i % PER_QUANTUM == 0) {
			quantum_close(quantum, sums);
			shared = course->quantum * normal(state);
		}
		if (mix_uniform(state) >= course->read)
			continue;
		quantum_add(quantum, i % 2,
				&(struct quantum_burst){ 0, 1, 1 / course->read,
						1e-3 *
								(1 + course->grows * (when / 100 - .5) +
										shared +
										course->varies *
												normal(state)),
						values, false, when });
	}
	quantum_close(quantum, sums);
	drift = estimate_drift(sums, member);
	quantum_free(quantum);
	sums_free(sums);
	return drift;
}

static void test_coverage(const char *name, const struct course *course)
{
	unsigned covered = 0;
	uint64_t state = 11;
	double sum = 0;

	for (unsigned i = 0; i < TRIALS; i++) {
		struct drift drift = drift_of(course, &state, BURSTS);

		sum += drift.change;
		covered += fabs(drift.change - course->grows) <= drift.ci95;
	}
	/* the standard error of the mean of the trials is below 0.01 in all of them */
	ok(fabs(sum / TRIALS - course->grows) < .03, "%s: the drift is %.3f, by the sums %.3f",
			name, course->grows, sum / TRIALS);
	/* an interval is wider than it must be by what the line explains */
	ok(covered >= .9 * TRIALS && covered <= (course->grows ? 1 : .99) * TRIALS,
			"%s: %u of %u intervals hold it", name, covered, TRIALS);
}

int main(void)
{
	uint64_t state = 5;
	struct drift drift;

	test_coverage("steady", &(struct course){ 0, .2, 0, 1 });
	test_coverage("growing", &(struct course){ .5, .2, 0, 1 });
	test_coverage("shrinking, a tenth is read", &(struct course){ -.8, .3, 0, .1 });
	test_coverage("quanta vary", &(struct course){ .3, .05, .2, .5 });

	drift = drift_of(&(struct course){ .5, 0, 0, 1 }, &state, BURSTS);
	ok(fabs(drift.change - .5) < 1e-2 && drift.ci95 < .25, "an exact line: %.4f +- %.4f",
			drift.change, drift.ci95);
	drift = drift_of(&(struct course){ .5, .1, 0, 1 }, &state, 5 * PER_QUANTUM);
	ok(isnan(drift.change), "five quanta are too few");
	return tap_done();
}
