/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes in `sweep`, three quarters of the time called by `solve` and a quarter by `check`, which `step` calls in
 * turn: call stacks of samples that are known beforehand. With MPI, each step ends with a call of it. usage: deep SECONDS
 * [killed], of processor time; killed: ends as if another process had killed it
 */
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PART_SECONDS 0.001

static volatile double sink;

static double processor_seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static __attribute__((noinline)) double sweep(double seconds)
{
	double until = processor_seconds() + seconds, x = 2;

	do {
		for (int i = 0; i < 100000; i++)
			x = x * 0.999 + 0.001;
	} while (processor_seconds() < until);
	return x;
}

/* each adds something afterwards, so that its call is not its last instruction */
static __attribute__((noinline)) double solve(double seconds)
{
	return sweep(3 * seconds) + 1;
}

static __attribute__((noinline)) double check(double seconds)
{
	return sweep(seconds) + 2;
}

static __attribute__((noinline)) double step(double seconds)
{
	return solve(seconds) + check(seconds);
}

int main(int argc, char **argv)
{
	double seconds = argc >= 2 ? atof(argv[1]) : 1;

#ifdef WITH_MPI
	MPI_Init(&argc, &argv);
	for (int steps = (int)(seconds / (4 * PART_SECONDS)); steps > 0; steps--) {
		sink = step(PART_SECONDS);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Finalize();
#else
	double begin = processor_seconds();

	while (processor_seconds() - begin < seconds)
		sink = step(PART_SECONDS);
#endif
	if (argc > 2)
		raise(SIGKILL);
	printf("done\n");
	return 0;
}
