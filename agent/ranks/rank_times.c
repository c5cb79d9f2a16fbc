/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/ranks/rank_times.h"

#include <math.h>

bool rank_times_has_each(int ranks)
{
	return ranks <= RANK_TIMES_MAX;
}

static unsigned find_place(double seconds, double wall_seconds)
{
	double place = wall_seconds > 0 ? seconds / wall_seconds * RANK_TIMES_MAX : 0;

	if (!(place > 0))
		return 0;
	return place < RANK_TIMES_MAX ? (unsigned)place : RANK_TIMES_MAX - 1;
}

void rank_times_add(struct rank_times *times, int rank, int ranks, const struct rank_time *seconds,
		double wall_seconds)
{
	if (rank_times_has_each(ranks)) {
		times->place[rank].useful += seconds->useful;
		times->place[rank].mpi += seconds->mpi;
	} else {
		times->place[find_place(seconds->useful, wall_seconds)].useful++;
		times->place[find_place(seconds->mpi, wall_seconds)].mpi++;
	}
}

/* Returns the middle of the first place up to which `part` of the ranks are. stride: doubles between places. */
static double find_quantile(const double *ranks, unsigned stride, double part, double wall_seconds)
{
	double all = 0, wanted, below = 0;

	for (unsigned i = 0; i < RANK_TIMES_MAX; i++)
		all += ranks[i * stride];
	wanted = fmax(ceil(part * all), 1);
	for (unsigned i = 0; i < RANK_TIMES_MAX; i++) {
		below += ranks[i * stride];
		if (below >= wanted)
			return (i + 0.5) / RANK_TIMES_MAX * wall_seconds;
	}
	return NAN;
}

struct rank_time rank_times_quantile(const struct rank_times *times, double part,
		double wall_seconds)
{
	const unsigned stride = sizeof(struct rank_time) / sizeof(double);

	return (struct rank_time){
		find_quantile(&times->place[0].useful, stride, part, wall_seconds),
		find_quantile(&times->place[0].mpi, stride, part, wall_seconds),
	};
}
