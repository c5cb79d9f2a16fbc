/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI programs whose time lies in few long bursts, as in codes that assemble a matrix once or visit their finest
 * grid some times.
 *
 *	few SHAPE [PIECE_MS [PERCENT]]
 *
 * SHAPE: "ten": ten bursts of 250 ms. "assembly": two bursts of 650 ms, and then the many bursts of a solver.
 * "cycles": ten cycles over grids, whose finest one takes a burst of 250 ms.
 *
 * All times are those of the scripted PMU. PIECE_MS: a call of MPI cuts each long burst into bursts of that
 * length, whose counters can be known without samples; 0: none does. PERCENT: of all work.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define HERE         __attribute__((noinline, noclone, visibility("default")))
#define NO_TAIL_CALL __asm__ volatile("")

static int piece_ms;
static double scale = 1;

static void meet(void)
{
	double mine = 1, sum;

	MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* Works for `ms` milliseconds of a kernel that runs `per_ms` instructions in each. */
static void compute(const char *kernel, double per_ms, int ms)
{
	for (; piece_ms && ms > piece_ms; ms -= piece_ms) {
		work(kernel, (uint64_t)(scale * per_ms * piece_ms));
		MPI_Barrier(MPI_COMM_SELF);
	}
	work(kernel, (uint64_t)(scale * per_ms * ms));
}

#define STEP(function, kernel, per_ms)                                                             \
	HERE void function(int ms)                                                                 \
	{                                                                                          \
		compute(kernel, per_ms, ms);                                                       \
		meet();                                                                            \
		NO_TAIL_CALL;                                                                      \
	}
STEP(residual, "triad", 1.83e6)
STEP(assemble, "fdiv", 1e6)
STEP(multiply, "triad", 1.83e6)
STEP(reduce, "alu", 1.2e7)
STEP(smooth, "fma", 1e7)
STEP(restrict_coarse, "fma", 1e7)
STEP(prolong_coarse, "alu", 1.2e7)

/* The first burst of a loop comes from a call path of its own, so it is short. */
static volatile int next_ms = 1;

static void ten(void)
{
	for (int i = 0; i <= 10; i++) {
		residual(next_ms);
		next_ms = 250;
	}
}

static void assembly(void)
{
	assemble(650);
	assemble(650);
	for (int i = 0; i < 250; i++) {
		multiply(4);
		reduce(1);
	}
}

static void cycles(void)
{
	for (int i = 0; i <= 10; i++) {
		residual(next_ms);
		next_ms = 250;
		restrict_coarse(8);
		for (int level = 0; level < 5; level++) {
			prolong_coarse(2);
			smooth(20);
		}
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} shapes[] = { { "ten", ten }, { "assembly", assembly }, { "cycles", cycles } };

int main(int argc, char **argv)
{
	void (*run)(void) = NULL;

	for (size_t i = 0; argc > 1 && i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(shapes[i].name, argv[1]) == 0)
			run = shapes[i].run;
	if (!run) {
		fprintf(stderr, "few: no such shape\n");
		return 2;
	}
	piece_ms = argc > 2 ? atoi(argv[2]) : 0;
	if (argc > 3)
		scale = atof(argv[3]) / 100;
	MPI_Init(&argc, &argv);
	meet();
	run();
	MPI_Finalize();
	return 0;
}
