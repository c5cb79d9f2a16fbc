/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program whose calls are all made by one wrapper, so that only the wrapper's callers tell the phases'
 * ends apart. Comments mark these callers for the test that reads the report.
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "work.h"

static int rank, ranks;
static uint64_t token;

static __attribute__((noinline)) void exchange(void)
{
	uint64_t got;

	MPI_Sendrecv(&token, 1, MPI_UINT64_T, (rank + 1) % ranks, 0, &got, 1, MPI_UINT64_T,
			(rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	token = got + 1;
}

static __attribute__((noinline)) void advance(void)
{
	work("triad", 1500000);
	exchange(); /* after triad */
	token++; /* prevents the compiler from jumping to exchange, so that advance is a caller */
}

static __attribute__((noinline)) void relax(void)
{
	work("fdiv", 300000);
	exchange(); /* after fdiv */
	token++;
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 200;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < iterations; i++) {
		advance();
		relax();
		work("alu", 24000000);
		exchange(); /* after alu */
	}
	if (rank == 0)
		printf("wrapped: %d iterations, %llu\n", iterations, (unsigned long long)token);
	MPI_Finalize();
	return 0;
}
