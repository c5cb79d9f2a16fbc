/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A library with OpenMP, to be opened with RTLD_LOCAL. The regions of `fill` and `count` are at the end of
 * their function. Therefore an optimising compiler jumps to the runtime, and the return address is in the
 * caller.
 */
#include <omp.h>

#define CELLS 100000

long run(void);
void fill(void);
void count(void);

static long cells[CELLS], total;
static omp_lock_t lock;

void fill(void)
{
#pragma omp parallel for num_threads(2)
	for (long i = 0; i < CELLS; i++)
		cells[i] = 1;
}

void count(void)
{
#pragma omp parallel num_threads(2)
	{
		long mine = 0;

#pragma omp for
		for (long i = 0; i < CELLS; i++)
			mine += cells[i];
			/* the lock and the critical section do not exclude each other */
#pragma omp critical
		{
#pragma omp atomic
			total += mine;
		}
		omp_set_lock(&lock);
#pragma omp atomic
		total += 1000000;
		omp_unset_lock(&lock);
#pragma omp barrier
#pragma omp single
#pragma omp task
		{
#pragma omp atomic
			total += 10000000;
		}
	}
}

long run(void)
{
	long result;

	omp_init_lock(&lock);
	fill();
	count();
	omp_destroy_lock(&lock);
	result = total;
	total = 0;
	return result;
}
