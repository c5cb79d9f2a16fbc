/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An MPI program whose misses of a cache are known. Each iteration runs three functions, with a barrier after each:
 *
 *	stream     loads each line of an array of KIB kibibytes once, eight times over, with four instructions for each: a
 *	           cache that is smaller than the array misses all of them, a larger one none
 *	scattered  loads 100,000 lines of 8 MiB at random: a cache of C MiB misses 1 - C / 8 of them
 *	sorted     sorts 20,000 numbers with the C library's qsort, always the same ones
 *
 *	cached ITERATIONS KIB
 */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define LINE      64
#define PASSES    8
#define SCATTERED (UINT64_C(8) << 20)
#define LOADS     100000
#define NUMBERS   20000

static uint64_t state = 1;

static uint64_t draw(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return state >> 33;
}

static __attribute__((noinline)) void stream(const char *bytes, uint64_t size)
{
	for (int i = 0; i < PASSES; i++) {
		uint64_t count = size / LINE, value = 0;
		const char *at = bytes;

		__asm__ volatile("1: movq (%2), %1\n\tadd $64, %2\n\tdec %0\n\tjnz 1b"
				 : "+r"(count), "+r"(value), "+r"(at)
				 :
				 : "cc");
	}
}

static __attribute__((noinline)) uint64_t scattered(const char *bytes)
{
	uint64_t sum = 0;

	for (int i = 0; i < LOADS; i++)
		sum += *(const volatile unsigned char *)(bytes + draw() % SCATTERED);
	return sum;
}

static int compare(const void *one, const void *other)
{
	int a = *(const int *)one, b = *(const int *)other;

	return (a > b) - (a < b);
}

static __attribute__((noinline)) void sorted(int *numbers)
{
	uint64_t before = state;

	state = 1;
	for (int i = 0; i < NUMBERS; i++)
		numbers[i] = (int)(draw() & 0xffffff);
	state = before;
	qsort(numbers, NUMBERS, sizeof(*numbers), compare);
}

int main(int argc, char **argv)
{
	int iterations = argc > 1 ? atoi(argv[1]) : 10, rank;
	uint64_t size = (argc > 2 ? strtoull(argv[2], NULL, 10) : 3072) << 10, sum = 0;
	char *streamed = malloc(size), *random = malloc(SCATTERED);
	int *numbers = calloc(NUMBERS, sizeof(*numbers));

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (uint64_t at = 0; streamed && at < size; at++)
		streamed[at] = (char)at;
	for (uint64_t at = 0; random && at < SCATTERED; at++)
		random[at] = (char)at;
	for (int i = 0; streamed && random && numbers && i < iterations; i++) {
		stream(streamed, size);
		MPI_Barrier(MPI_COMM_WORLD);
		sum += scattered(random);
		MPI_Barrier(MPI_COMM_WORLD);
		sorted(numbers);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	if (rank == 0)
		printf("cached: %d iterations, %llu\n", iterations, (unsigned long long)sum);
	free(streamed);
	free(random);
	free(numbers);
	return MPI_Finalize();
}
