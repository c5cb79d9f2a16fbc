/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes MILLIONS million cheap MPI calls (1 by default; MPI_Startall of no request) between two marks, and
 * counts every allocation in between. Prints "allocations N in S seconds", and every rank except the first puts
 * "rank R: " before it. A mark is a write of one byte to a descriptor that is not open (-1), which strace
 * shows.
 *
 *	million [MILLIONS]
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static volatile int counting;
static volatile long allocations;

/* Counts the allocations of all objects, because the program is first in the search order. */
#define COUNTED(name, parameters, arguments)                                                       \
	void *name parameters                                                                      \
	{                                                                                          \
		static __typeof__(name) *next;                                                     \
                                                                                                   \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #name);                                 \
		allocations += counting;                                                           \
		return next arguments;                                                             \
	}

COUNTED(malloc, (size_t size), (size))
COUNTED(calloc, (size_t count, size_t size), (count, size))
COUNTED(realloc, (void *block, size_t size), (block, size))
COUNTED(memalign, (size_t alignment, size_t size), (alignment, size))

static void mark(void)
{
	if (write(-1, "m", 1) == 0)
		abort();
}

int main(int argc, char **argv)
{
	MPI_Request request = MPI_REQUEST_NULL;
	int calls = (argc > 1 ? atoi(argv[1]) : 1) * 1000000;
	const char *rank = getenv("OMPI_COMM_WORLD_RANK");
	double begin, end;

	if (!rank)
		rank = getenv("PMI_RANK");
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 100; i++)
		MPI_Startall(0, &request);
	mark();
	counting = 1;
	begin = MPI_Wtime();
	for (int i = 0; i < calls; i++)
		MPI_Startall(0, &request);
	end = MPI_Wtime();
	counting = 0;
	mark();
	if (rank && atoi(rank))
		printf("rank %s: ", rank);
	printf("allocations %ld in %.3f seconds\n", allocations, end - begin);
	MPI_Finalize();
	return 0;
}
