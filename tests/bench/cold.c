/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of an intercepted call among a program's work: the median nanoseconds of a cheap call. The
 * call is MPI_Iprobe, from three places in turn, under a stack of some frames. MIB MiB of memory are swept
 * before each call. The program runs both bare and under the preload.
 *
 *	cold.MPI MIB CALLS
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LINE   64
#define FRAMES 6

static double *took;
static int calls, done;

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

__attribute__((noinline)) static void call(void)
{
	double begin = now_ns();
	int flag;

	switch (done % 3) {
	case 0:
		MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		break;
	case 1:
		MPI_Iprobe(0, 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
		break;
	default:
		MPI_Iprobe(0, 3, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	}
	took[done++] = now_ns() - begin;
}

__attribute__((noinline)) static void under_frames(int frames)
{
	char local[300];

	__asm__ volatile("" : : "r"(local) : "memory");
	if (frames)
		under_frames(frames - 1);
	else
		call();
	/* prevents a tail call, which would leave the frame */
	__asm__ volatile("" : : "r"(local) : "memory");
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	size_t bytes;
	char *swept;

	MPI_Init(&argc, &argv);
	bytes = (size_t)(atof(argv[1]) * 1048576) + LINE;
	calls = atoi(argv[2]);
	swept = calloc(bytes, 1);
	took = calloc((size_t)calls, sizeof(*took));
	if (!swept || !took)
		MPI_Abort(MPI_COMM_WORLD, 1);
	while (done < calls) {
		for (size_t i = 0; i < bytes; i += LINE)
			((volatile char *)swept)[i]++;
		under_frames(FRAMES);
	}
	/* without the first half, in which phasemux learns and handles what is new */
	qsort(took + calls / 2, (size_t)(calls - calls / 2), sizeof(*took), ascending);
	printf("%.1f\n", took[calls / 2 + (calls - calls / 2) / 2]);
	MPI_Finalize();
	return 0;
}
