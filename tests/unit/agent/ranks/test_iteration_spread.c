/* SPDX-License-Identifier: BSD-3-Clause */
/* How much iterations vary: random ranks, merged, beside plain sums in two passes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/ranks/iteration_spread.h"
#include "tests/tap.h"

#define RANKS      9
#define PROTOTYPES 6
#define PHASES     3
#define PARTS      5 /* of an iteration */

static uint64_t state = 7;

static double draw(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (double)(state >> 11) * 0x1p-53;
}

/* Phase 3 has prototypes 4 and 5; prototype 3 is in no phase. */
static const uint32_t phase[PROTOTYPES_MAX] = { 1, 2, 1, 0, 3, 3 };
static double seconds[RANKS][ITERATION_SAMPLE_MAX][PHASES + 1]; /* [0]: of the whole iteration */
static unsigned counts[RANKS];

static struct rank_iterations *make_rank(unsigned rank)
{
	size_t bytes = sizeof(struct rank_iterations) +
			ITERATION_SAMPLE_MAX * PARTS * sizeof(struct prototype_part);
	struct rank_iterations *iterations = calloc(1, bytes);

	if (!iterations)
		abort();
	memset(seconds[rank], 0, sizeof(seconds[rank]));
	counts[rank] = 1 + (unsigned)(draw() * ITERATION_SAMPLE_MAX);
	for (unsigned i = 0; i < counts[rank]; i++) {
		double *of = seconds[rank][i];

		/* ranks differ much more than their iterations */
		of[0] = 100 * (rank + 1) + draw();
		iterations->iteration[i] =
				(struct rank_iteration){ of[0], iterations->parts, PARTS };
		for (unsigned p = 0; p < PARTS; p++) {
			struct prototype_part *part = &iterations->part[iterations->parts++];

			part->prototype = (uint32_t)(draw() * PROTOTYPES);
			part->seconds = (float)(1 + rank + draw());
			if (phase[part->prototype])
				of[phase[part->prototype]] += (double)part->seconds;
		}
	}
	iterations->count = counts[rank];
	iterations->bytes = bytes;
	return iterations;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + fabs(b)) + 1e-12;
}

static bool is_right(const struct iteration_spread *got, unsigned of)
{
	double count = 0, sum = 0, squares = 0, least = INFINITY, most = 0;

	for (unsigned rank = 0; rank < RANKS; rank++) {
		double own = 0;

		for (unsigned i = 0; i < counts[rank]; i++) {
			own += seconds[rank][i][of];
			least = fmin(least, seconds[rank][i][of]);
			most = fmax(most, seconds[rank][i][of]);
		}
		for (unsigned i = 0; i < counts[rank]; i++)
			squares += pow(seconds[rank][i][of] - own / counts[rank], 2);
		sum += own;
		count += counts[rank];
	}
	return got->ranks == RANKS && got->count == count && near(got->sum, sum) &&
			fabs(got->squares - squares) <= 1e-6 * squares && got->least == least &&
			got->most == most && near(iteration_spread_mean(got), sum / count) &&
			near(iteration_spread_sd(got), sqrt(got->squares / (count - RANKS)));
}

static void test_random(void)
{
	unsigned right = 0, rounds = 0;

	for (; rounds < 100; rounds++) {
		struct iteration_spreads *own = malloc(sizeof(*own));
		struct iteration_spread all[PHASES + 1] = { 0 };
		bool good = true;

		if (!own)
			abort();
		for (unsigned rank = 0; rank < RANKS; rank++) {
			struct rank_iterations *iterations = make_rank(rank);

			iteration_spreads_of(iterations, phase, own);
			iteration_spread_merge(&all[0], &own->whole);
			for (unsigned p = 0; p < PHASES; p++)
				iteration_spread_merge(&all[p + 1], &own->phase[p]);
			free(iterations);
		}
		for (unsigned of = 0; of <= PHASES; of++)
			good = good && is_right(&all[of], of);
		right += good;
		free(own);
	}
	ok(right == rounds, "%u of %u times, merged ranks have the spread of plain sums", right,
			rounds);
}

static void test_few(void)
{
	struct iteration_spread spread = { 2, 6, 60, 1, 8, 12 }, none = { 0 }, copy = spread;
	struct iteration_spreads spreads;

	ok(isnan(iteration_spread_sd(&spread)), "six iterations of two ranks say nothing");
	spread.count = 8;
	spread.sum = 80;
	spread.squares = 24;
	ok(iteration_spread_sd(&spread) == 2, "the mean of each rank is not free");
	ok(iteration_spread_is_like(&spread, 10) && iteration_spread_is_like(&spread, 15) &&
					!iteration_spread_is_like(&spread, 15.5),
			"their mean may differ from that of all by a fifth and three standard errors");
	spread = copy;
	iteration_spread_merge(&spread, &none);
	iteration_spread_merge(&none, &spread);
	ok(memcmp(&spread, &copy, sizeof(copy)) == 0 && memcmp(&none, &copy, sizeof(copy)) == 0,
			"ranks without iterations change nothing");
	iteration_spreads_of(NULL, phase, &spreads);
	ok(spreads.whole.count == 0 && isnan(iteration_spread_mean(&spreads.whole)),
			"without iterations nothing is known");
}

int main(void)
{
	test_random();
	test_few();
	return tap_done();
}
