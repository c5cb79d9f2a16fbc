/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the times of ranks: of few ranks those of each, of many their quantiles, whatever the order of the ranks. */
#include <math.h>
#include <stdlib.h>

#include "agent/ranks/rank_times.h"
#include "tests/tap.h"

#define WALL 20.0
#define MANY 10000

/* The time of a rank, which are spread evenly over the run. */
static struct rank_time time_of(int rank, int ranks)
{
	double at = (double)((long)rank * 7919 % ranks) / ranks;

	return (struct rank_time){ WALL * at, WALL * (1 - at) };
}

/* Adds up ranks whose times were taken apart, as a reduction does. */
static void add_all(struct rank_times *times, int ranks)
{
	const unsigned count = sizeof(*times) / sizeof(double);

	memset(times, 0, sizeof(*times));
	for (int rank = ranks; rank-- > 0;) {
		struct rank_time seconds = time_of(rank, ranks);
		struct rank_times own = { 0 };

		rank_times_add(&own, rank, ranks, &seconds, WALL);
		for (unsigned i = 0; i < count; i++)
			((double *)times)[i] += ((double *)&own)[i];
	}
}

static void test_few(int ranks)
{
	static struct rank_times times;
	int wrong = 0;

	add_all(&times, ranks);
	for (int rank = 0; rank < RANK_TIMES_MAX; rank++) {
		struct rank_time wanted = { 0, 0 };

		if (rank < ranks)
			wanted = time_of(rank, ranks);
		wrong += times.place[rank].useful != wanted.useful ||
				times.place[rank].mpi != wanted.mpi;
	}
	ok(rank_times_has_each(ranks), "%d ranks have the times of each", ranks);
	is_int(wrong, 0, "in the order of the ranks");
}

static void test_many(int ranks)
{
	const double exact = WALL / RANK_TIMES_MAX + WALL / ranks;
	static struct rank_times times;

	add_all(&times, ranks);
	ok(!rank_times_has_each(ranks), "%d ranks do not", ranks);
	for (int tenth = 0; tenth <= 10; tenth++) {
		struct rank_time found = rank_times_quantile(&times, tenth / 10., WALL);

		is_near(found.useful, WALL * tenth / 10, exact, "a decile of useful time");
		is_near(found.mpi, WALL * tenth / 10, exact, "and of time in MPI");
	}
}

int main(void)
{
	static struct rank_times none, wild;
	const struct rank_time odd[] = { { NAN, -1 }, { INFINITY, 2 * WALL }, { WALL, 0 } };

	test_few(1);
	test_few(7);
	test_few(RANK_TIMES_MAX);
	test_many(RANK_TIMES_MAX + 1);
	test_many(MANY);
	ok(isnan(rank_times_quantile(&none, 0.5, WALL).useful), "no ranks have no quantile");
	for (unsigned i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		rank_times_add(&wild, (int)i, MANY, &odd[i], WALL);
	is_near(rank_times_quantile(&wild, 1, WALL).useful, WALL, WALL / RANK_TIMES_MAX,
			"a time beyond the run is in the last place");
	is_near(rank_times_quantile(&wild, 0, WALL).mpi, 0, WALL / RANK_TIMES_MAX,
			"and one below 0 in the first");
	return tap_done();
}
