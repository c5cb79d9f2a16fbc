/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program whose instructions are known. Each iteration runs three loops, with a barrier after each:
 *
 *	plain     2,000,000 instructions, no load or store
 *	division  400,000 instructions, of which 100,000 are divisions
 *	memory    800,000 instructions, of which 200,000 are loads, each of another cache line of 32 MiB
 *
 *	counted ITERATIONS
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define BYTES (UINT64_C(32) << 20)

static void plain(void)
{
	uint64_t count = 1000000;

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(count) : : "cc");
}

static void division(void)
{
	uint64_t count = 100000;

	/* rdx:rax / 3, with rdx 0 */
	__asm__ volatile("1: xor %%edx, %%edx\n\tdivq %1\n\tdec %0\n\tjnz 1b"
			 : "+r"(count)
			 : "r"(UINT64_C(3))
			 : "rax", "rdx", "cc");
}

static void memory(const char *bytes)
{
	uint64_t count = 200000, at = 0;

	__asm__ volatile("1: movq (%2), %1\n\tadd $64, %2\n\tdec %0\n\tjnz 1b"
			 : "+r"(count), "=&r"(at), "+r"(bytes)
			 :
			 : "cc");
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 10, rank;
	char *bytes = calloc(1, BYTES);

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; bytes && i < iterations; i++) {
		plain();
		MPI_Barrier(MPI_COMM_WORLD);
		division();
		MPI_Barrier(MPI_COMM_WORLD);
		memory(bytes);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("counted: %d iterations\n", iterations);
	free(bytes);
	return MPI_Finalize();
}
