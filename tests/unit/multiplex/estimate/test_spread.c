/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the standard deviation and the deciles of counters between bursts, which are merged by adding. */
#include "tests/tap.h"

#include <stdlib.h>

#include "multiplex/estimate/estimate.h"
#include "multiplex/estimate/sketch.h"
#include "multiplex/mix.h"

enum { BURSTS = 20000 };

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double normal(uint64_t *state)
{
	double u = 1 - mix_uniform(state), v = mix_uniform(state);

	return sqrt(-2 * log(u)) * cos(2 * M_PI * v);
}

/* Returns a value of one of the distributions that counters have. */
static uint64_t draw(unsigned shape, uint64_t *state)
{
	switch (shape) {
	case 0: /* narrow, of large values */
		return 3e9 * (1 + .01 * normal(state));
	case 1: /* two modes */
		return mix_uniform(state) < .35 ? 1e5 * (1 + .05 * normal(state)) :
						  4e5 * (1 + .05 * normal(state));
	case 2: /* around a power of two, where the circle of buckets may end */
		return 65536 * (1 + .2 * normal(state));
	case 3: /* mostly zero */
		return mix_uniform(state) < .65 ? 0 : 100 + mix_next(state) % 100;
	default: /* skewed, with rare outliers */
		return 5e4 * exp(.3 * normal(state)) * (mix_uniform(state) < .002 ? 6 : 1);
	}
}

static void test_shape(unsigned shape)
{
	static uint64_t values[BURSTS];
	double bucket[SKETCH_FIELDS] = { 0 }, decile[9], mean = 0, worst = 0;
	uint64_t state = 77 + shape;

	for (unsigned i = 0; i < BURSTS; i++) {
		values[i] = draw(shape, &state);
		bucket[sketch_bucket(values[i])]++;
		mean += (double)values[i] / BURSTS;
	}
	qsort(values, BURSTS, sizeof(*values), ascending);
	if (!ok(sketch_deciles(bucket, mean, decile), "shape %u is decoded", shape))
		return;
	for (unsigned d = 0; d < 9; d++) {
		double truth = values[BURSTS * (d + 1) / 10];

		worst = fmax(worst, truth ? fabs(decile[d] / truth - 1) : decile[d]);
	}
	ok(worst < .03, "shape %u: deciles within 3%% (%.2f%%)", shape, 100 * worst);
}

static void test_limits(void)
{
	double bucket[SKETCH_FIELDS] = { 0 }, decile[9], mean = 0;

	ok(!sketch_deciles(bucket, NAN, decile), "an empty sketch has no deciles");
	bucket[SKETCH_ZERO] = 5;
	ok(sketch_deciles(bucket, 0, decile) && decile[8] == 0, "all zero: zero");
	bucket[SKETCH_ZERO] = 0;
	for (unsigned i = 0; i < 40; i++) {
		double value = ldexp(1, i) * 1.3;

		bucket[sketch_bucket(value)]++;
		mean += value / 40;
	}
	ok(!sketch_deciles(bucket, mean, decile), "forty octaves are too wide, and it says so");
	memset(bucket, 0, sizeof(bucket));
	bucket[sketch_bucket(1)] = 1;
	ok(sketch_deciles(bucket, 1, decile) && fabs(decile[4] - 1) < .06, "a single 1");
	memset(bucket, 0, sizeof(bucket));
	bucket[sketch_bucket(UINT64_MAX / 2)] = 1;
	ok(sketch_deciles(bucket, 0x1p63, decile) && fabs(decile[4] / 0x1p63 - 1) < .06,
			"a single 2^63");
}

/* Two processes have a phase of two prototypes, and one more prototype that is of another phase. */
static void test_sums(void)
{
	bool member[3] = { true, true, false };
	struct spread spread[PLAN_EVENTS_MAX];
	struct sums *all, *part;
	struct quantum *quantum;
	uint64_t state = 3;
	struct plan plan;
	double sum = 0, squares = 0;
	unsigned counted = 0;

	plan_pack(&plan, 4, 2, 3, NULL);
	all = sums_new(&plan, 3);
	part = sums_new(&plan, 3);
	quantum = quantum_new(all);
	quantum_label(quantum, 0, 2);
	quantum_label(quantum, 1, 2);
	quantum_label(quantum, 2, 1);
	for (unsigned process = 0; process < 2; process++) {
		memset(sums_flat(part), 0, sums_length(part) * sizeof(double));
		for (unsigned i = 0; i < 6000; i++) {
			uint64_t values[3] = { 1000000 + mix_next(&state) % 1000, 2000000, 0 };
			unsigned group = i / 600 % 2, prototype = i % 3;

			values[2] = draw(1, &state);
			if (group == 0 && prototype < 2) {
				sum += values[2];
				squares += (double)values[2] * values[2];
				counted++;
			}
			quantum_add(quantum, prototype,
					&(struct quantum_burst){ group, 1, 1, 1e-3, values, false,
							0 });
			if (i % 600 == 599)
				quantum_close(quantum, part);
		}
		for (size_t i = 0; i < sums_length(all); i++)
			sums_flat(all)[i] += sums_flat(part)[i];
	}
	estimate_spread(all, member, 2, spread);
	is_near(spread[2].sd, sqrt(squares / counted - sum / counted * (sum / counted)), 1,
			"standard deviation between bursts");
	ok(spread[2].deciles && fabs(spread[2].decile[1] / 1e5 - 1) < .05 &&
					fabs(spread[2].decile[6] / 4e5 - 1) < .05,
			"both modes show in the deciles");
	is_near(spread[1].sd, 0, 2, "a constant has no spread");
	ok(spread[0].deciles && spread[0].decile[0] < spread[0].decile[8] &&
					fabs(spread[0].decile[4] / 1000500 - 1) < 1e-3,
			"bursts within one bucket: the deciles are as near to the mean as they must be");
	ok(isnan(spread[5].sd) && !spread[5].deciles, "an event that is not there has none");
	estimate_spread(all, member, 9, spread);
	ok(!spread[2].deciles, "no deciles of a label that the bursts did not have");
	quantum_free(quantum);
	sums_free(all);
	sums_free(part);
}

int main(void)
{
	for (unsigned shape = 0; shape < 5; shape++)
		test_shape(shape);
	test_limits();
	test_sums();
	return tap_done();
}
