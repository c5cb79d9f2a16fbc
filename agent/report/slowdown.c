/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/report/slowdown.h"

#include <math.h>
#include <stdlib.h>

#include "multiplex/estimate/student.h"
#include "multiplex/mix.h"

#define CALLS_MIN   16  /* number of calls that a stretch needs to have a rate */
#define RATES_ALIKE 0.1 /* maximum difference of the unobserved rates before and after a pair */
#define PAIRS_MIN   5   /* number of compared pairs that an interval needs */

bool slowdown_observes(uint64_t number)
{
	uint64_t state = number / 2 * MIX_STEP;

	return (number ^ mix_next(&state) >> 63) % 2;
}

/* Logarithms of the rates in a pair, because noise does not shift their mean. NAN: not known. */
struct pair {
	double observed, unobserved;
};

static double log_rate(const struct stretch *stretch)
{
	if (stretch->calls < CALLS_MIN || !(stretch->seconds > 0))
		return NAN;
	return log((double)stretch->calls / stretch->seconds);
}

/* Makes the pairs, also incomplete ones, in the order of their numbers. Returns how many. */
static unsigned make_pairs(const struct stretch *stretches, unsigned count, struct pair *pairs)
{
	unsigned made = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct stretch *stretch = &stretches[i];

		if (!i || stretch->number / 2 != stretch[-1].number / 2)
			pairs[made++] = (struct pair){ NAN, NAN };
		if (stretch->observed)
			pairs[made - 1].observed = log_rate(stretch);
		else
			pairs[made - 1].unobserved = log_rate(stretch);
	}
	return made;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double mean_of(const double *values, unsigned count)
{
	double sum = 0;

	for (unsigned i = 0; i < count; i++)
		sum += values[i];
	return sum / count;
}

static double interval_of(const double *values, unsigned count, double mean)
{
	double squares = 0;

	if (count < PAIRS_MIN)
		return INFINITY;
	for (unsigned i = 0; i < count; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	return student_quantile(count - 1) * sqrt(squares / (count - 1) / count);
}

static void slowdown_summarise(double *slower, unsigned count, struct slowdown *slowdown)
{
	double mean = mean_of(slower, count);

	qsort(slower, count, sizeof(*slower), by_size);
	slowdown->compared = count;
	slowdown->mean = expm1(mean);
	slowdown->median = expm1((slower[(count - 1) / 2] + slower[count / 2]) / 2);
	slowdown->ci95 = interval_of(slower, count, mean);
}

void slowdown_of(const struct stretch *stretches, unsigned count, struct slowdown *slowdown)
{
	struct pair *pairs = calloc(count + 1, sizeof(*pairs));
	double *slower = calloc(count + 1, sizeof(*slower));
	unsigned made = pairs && slower ? make_pairs(stretches, count, pairs) : 0, compared = 0;

	*slowdown = (struct slowdown){ 0, NAN, NAN, INFINITY };
	for (unsigned i = 1; i + 1 < made; i++) {
		double by = pairs[i].unobserved - pairs[i].observed;
		double change = pairs[i + 1].unobserved - pairs[i - 1].unobserved;

		if (!isnan(by) && fabs(change) <= RATES_ALIKE)
			slower[compared++] = by;
	}
	if (compared)
		slowdown_summarise(slower, compared, slowdown);
	free(slower);
	free(pairs);
}
