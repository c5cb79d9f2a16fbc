/* SPDX-License-Identifier: BSD-3-Clause */
/* The prototypes of the bursts of iterations that were measured. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "agent/iterations/rank_iterations.h"
#include "tests/tap.h"

#define NS_PER_TICK 0.5

static struct site_table *sites;

/* Gives a span a length, of whose bursts `read` were read, most of them in a prototype. */
static void add_length(uint32_t number, uint8_t bin, uint32_t prototype, uint32_t read)
{
	struct span *span = &sites->span[1];

	span->used = true;
	span->bin[span->lengths] = bin;
	atomic_store(&span->length[span->lengths++], (uint16_t)number);
	if (!read)
		return;
	sites->length[number].share[0] = (struct span_share){ read, 1000, 0, (uint16_t)prototype };
	sites->length[number].share[1] = (struct span_share){ read / 4, 1000, 0, 9 };
}

static void make_sites(void)
{
	sites = calloc(1, sizeof(*sites));
	if (!sites)
		abort();
	sites->spans = 1;
	sites->lengths = 5;
	add_length(1, 20, 3, 40);
	add_length(2, 23, 4, 40);
	add_length(3, 24, 0, 0); /* not read: like number 2 */
	add_length(4, 10, PROTOTYPES_MAX, 40);
	add_length(5, 30, 5, 40);
	sites->length[5].cut = true;
}

static double seconds_of(const struct rank_iterations *iterations, unsigned number,
		uint32_t prototype)
{
	const struct rank_iteration *iteration = &iterations->iteration[number];
	double seconds = 0;

	for (uint32_t i = iteration->first; i < iteration->first + iteration->parts; i++)
		if (iterations->part[i].prototype == prototype)
			seconds += (double)iterations->part[i].seconds;
	return seconds;
}

static bool near(double a, double b)
{
	return fabs(a - b) <= 1e-6 * fabs(b);
}

int main(void)
{
	const struct anchor anchor = { 1, 2 };
	const struct iteration_part first[] = { { 1, 2e9f }, { 2, 4e9f }, { 3, 6e9f },
		{ 4, 8e9f } };
	const struct iteration_part second[] = { { 5, 1e10f } };
	struct iteration_sample *sample = calloc(1, sizeof(*sample));
	struct rank_iterations *iterations, *copy;

	make_sites();
	if (!sample)
		abort();
	ok(!rank_iterations_new(NULL, sites, NS_PER_TICK) &&
					!rank_iterations_new(sample, sites, NS_PER_TICK) &&
					!rank_iterations_copy(NULL),
			"an empty sample has no iterations");
	iteration_sample_start(sample, &anchor);
	iteration_sample_add(sample, (uint64_t)40e9, first, 4);
	iteration_sample_add(sample, (uint64_t)20e9, second, 1);
	iterations = rank_iterations_new(sample, sites, NS_PER_TICK);
	ok(iterations && iterations->count == 2 && near(iterations->iteration[0].seconds, 20) &&
					near(iterations->iteration[1].seconds, 10),
			"iterations have their times");
	ok(near(seconds_of(iterations, 0, 3), 1), "bursts of a length are in its main prototype");
	ok(near(seconds_of(iterations, 0, 4), 2 + 3),
			"those of a length that was not read are in the prototype of the nearest length");
	ok(seconds_of(iterations, 0, 9) == 0 && iterations->iteration[0].parts == 3,
			"what no prototype claims is left out");
	ok(near(seconds_of(iterations, 1, 5), 4) && near(seconds_of(iterations, 1, 9), 1),
			"bursts that were cut are in several prototypes by their shares");
	copy = rank_iterations_copy(iterations);
	ok(copy && memcmp(copy, iterations, iterations->bytes) == 0, "a copy is equal");
	free(copy);
	free(iterations);
	free(sample);
	free(sites);
	return tap_done();
}
