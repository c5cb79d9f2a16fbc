/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solvers whose kernels have similar lengths:
 *
 *	kernels sweeps [ITERATIONS]   a right-hand side, then sweeps in x, y and z
 *	kernels twelve [ITERATIONS]   twelve kernels of a hydrodynamics step, each before an exchange
 *	kernels callers [ITERATIONS]  one solver, which a random one of fifty functions calls
 *	kernels lengths [ITERATIONS]  one kernel that takes twice as long every other time
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "work.h"

#define LENGTH            1000000
#define AFTER_CALL(value) __asm__ volatile("" : "+r"(value))

static double sum = 1, all;

/* Takes the place of the exchange of a field's borders. */
static __attribute__((noinline)) void exchange(int field)
{
	MPI_Allreduce(&sum, &all, 1, MPI_DOUBLE, field % 2 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
	AFTER_CALL(field);
}

/* A kernel. Each has code of its own, because the compiler would merge equal functions. */
#define KERNEL(name, number, length)                                                               \
	static __attribute__((noinline)) void name(void)                                           \
	{                                                                                          \
		int field = number;                                                                \
                                                                                                   \
		work("alu", length);                                                               \
		exchange(field);                                                                   \
		AFTER_CALL(field);                                                                 \
	}

KERNEL(compute_rhs, 1, 2 * LENGTH)
KERNEL(x_solve, 2, LENGTH)
KERNEL(y_solve, 3, LENGTH)
KERNEL(z_solve, 4, LENGTH)

static void sweeps(int iteration)
{
	(void)iteration;
	compute_rhs();
	x_solve();
	y_solve();
	z_solve();
}

KERNEL(ideal_gas, 11, LENGTH)
KERNEL(viscosity, 12, LENGTH)
KERNEL(calc_dt, 13, LENGTH)
KERNEL(pdv, 14, LENGTH)
KERNEL(revert, 15, LENGTH)
KERNEL(accelerate, 16, LENGTH)
KERNEL(flux_calc, 17, LENGTH)
KERNEL(advec_cell_x, 18, LENGTH)
KERNEL(advec_cell_y, 19, LENGTH)
KERNEL(advec_mom_x, 20, LENGTH)
KERNEL(advec_mom_y, 21, LENGTH)
KERNEL(reset_field, 22, LENGTH)

static void twelve(int iteration)
{
	(void)iteration;
	ideal_gas();
	viscosity();
	calc_dt();
	pdv();
	revert();
	accelerate();
	flux_calc();
	advec_cell_x();
	advec_cell_y();
	advec_mom_x();
	advec_mom_y();
	reset_field();
}

KERNEL(solver, 5, LENGTH)

#define CALLER(number)                                                                             \
	static __attribute__((noinline)) void caller_##number(void)                                \
	{                                                                                          \
		int own = 1##number;                                                               \
                                                                                                   \
		AFTER_CALL(own);                                                                   \
		solver();                                                                          \
		AFTER_CALL(own);                                                                   \
	}
#define TEN(OF, tens)                                                                              \
	OF(tens##0)                                                                                \
	OF(tens##1)                                                                                \
	OF(tens##2)                                                                                \
	OF(tens##3) OF(tens##4) OF(tens##5) OF(tens##6) OF(tens##7) OF(tens##8) OF(tens##9)
#define FIFTY(OF) TEN(OF, 0) TEN(OF, 1) TEN(OF, 2) TEN(OF, 3) TEN(OF, 4)

FIFTY(CALLER)

#define NAME(number) caller_##number,
static void (*const caller[])(void) = { FIFTY(NAME) };

static void callers(int iteration)
{
	static uint64_t state = 1;

	(void)iteration;
	/* all ranks draw the same number */
	state = state * 6364136223846793005u + 1442695040888963407u;
	caller[(state >> 33) % 50]();
}

static void lengths(int iteration)
{
	work("alu", iteration % 2 ? LENGTH : 2 * LENGTH);
	exchange(6);
}

static const struct {
	const char *name;
	void (*step)(int iteration);
} shapes[] = { { "sweeps", sweeps }, { "twelve", twelve }, { "callers", callers },
	{ "lengths", lengths } };

int main(int argc, char **argv)
{
	int iterations = argc > 2 ? atoi(argv[2]) : 100, rank;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (size_t shape = 0; shape < sizeof(shapes) / sizeof(*shapes); shape++)
		for (int i = 0; argc > 1 && !strcmp(argv[1], shapes[shape].name) && i < iterations;
				i++)
			shapes[shape].step(i);
	if (rank == 0)
		printf("kernels: %d iterations, %.0f\n", iterations, all);
	MPI_Finalize();
	return 0;
}
