/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shapes of parallel programs: what calls they make in which order.
 *
 *	shapes SHAPE STEPS [MILLISECONDS]
 *
 * Rank 0 prints "calls N" at the end: how many calls of MPI it has made. The shapes are those of the NAS parallel
 * benchmarks (Bailey et al. 1991), of a master with workers, of a solver, and of programs that change.
 * MILLISECONDS: the last rank dies by SIGKILL that long after MPI_Init. A burst of work takes SHAPES_WORK_US
 * microseconds; without this variable, 50.
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define TAG  1
#define ASKS 2 /* tag of a worker that wants work */

#define SIDES_MAX 6

static int rank, size, made;
static double data[8], other[8];
static double work_us = 50; /* of a burst */

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec * 1e-3;
}

static void compute(double us)
{
	for (double end = now_us() + us; now_us() < end;)
		;
}

/* ---- messages with neighbours ---- */

static void norm(void)
{
	made++;
	MPI_Allreduce(data, other, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* A rank of a grid of `columns` columns; -1: none there. */
static int columns;

static int neighbour(int right, int down)
{
	int x = rank % columns + right, y = rank / columns + down;

	if (x < 0 || x >= columns || y < 0 || y >= size / columns)
		return -1;
	return y * columns + x;
}

/* Makes the grid as square as the number of ranks allows. */
static void make_grid(void)
{
	columns = 1;
	for (int i = 1; i * i <= size; i++)
		if (size % i == 0)
			columns = size / i;
}

/* Sends to each side of a torus, and receives from each. */
static void copy_faces(int sides)
{
	MPI_Request request[2 * SIDES_MAX];
	MPI_Status statuses[2 * SIDES_MAX];

	for (int side = 0; side < sides; side++, made++)
		MPI_Irecv(&other[side], 1, MPI_DOUBLE, MPI_ANY_SOURCE, TAG + side, MPI_COMM_WORLD,
				&request[side]);
	compute(work_us);
	for (int side = 0; side < sides; side++, made++)
		MPI_Isend(&data[side], 1, MPI_DOUBLE, (rank + 1 + side) % size, TAG + side,
				MPI_COMM_WORLD, &request[sides + side]);
	made++;
	MPI_Waitall(2 * sides, request, statuses);
}

static void pass_on(int to, int from)
{
	MPI_Request request;

	made += 3;
	MPI_Irecv(other, 2, MPI_DOUBLE, from, TAG, MPI_COMM_WORLD, &request);
	MPI_Send(data, 2, MPI_DOUBLE, to, TAG, MPI_COMM_WORLD);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- shapes ---- */

/* BT and SP: each step exchanges all faces, and solves in three directions in stages. */
static void multi_partition(int steps)
{
	for (int step = 0; step < steps; step++) {
		copy_faces(6);
		for (int direction = 0; direction < 3; direction++)
			for (int stage = 0; stage < 3; stage++) {
				compute(work_us);
				pass_on((rank + 1) % size, (rank + size - 1) % size);
			}
	}
	norm();
}

/* A sweep over the planes of a grid, from one corner to the opposite one. */
static void sweep(int sign, int planes)
{
	int from[2] = { neighbour(-sign, 0), neighbour(0, -sign) };
	int to[2] = { neighbour(sign, 0), neighbour(0, sign) };

	for (int plane = 0; plane < planes; plane++) {
		for (int i = 0; i < 2; i++)
			if (from[i] >= 0) {
				made++;
				MPI_Recv(other, 2, MPI_DOUBLE, from[i], TAG, MPI_COMM_WORLD,
						MPI_STATUS_IGNORE);
			}
		compute(work_us / 5);
		for (int i = 0; i < 2; i++)
			if (to[i] >= 0) {
				made++;
				MPI_Send(data, 2, MPI_DOUBLE, to[i], TAG, MPI_COMM_WORLD);
			}
	}
}

/* LU and Sweep3D. */
static void wavefront(int steps)
{
	make_grid();
	for (int step = 0; step < steps; step++) {
		sweep(1, 5);
		sweep(-1, 5);
		compute(work_us);
	}
	norm();
}

/* CG: inner steps of exchanges within a row, and a reduction. */
static void conjugate_gradient(int steps)
{
	for (int step = 0; step < steps; step++) {
		for (int inner = 0; inner < 25; inner++) {
			compute(work_us);
			for (int half = 1; half < size; half *= 2)
				if ((rank ^ half) < size)
					pass_on(rank ^ half, rank ^ half);
			norm();
		}
		norm();
	}
}

/* MG: down to a coarse grid and up again. */
static void v_cycle(int steps)
{
	for (int step = 0; step < steps; step++) {
		for (int level = 4; level > 0; level--) {
			compute(work_us * level);
			copy_faces(2);
		}
		for (int level = 1; level <= 4; level++) {
			compute(work_us * level);
			copy_faces(2);
		}
		norm();
	}
}

/* IS: sizes first, and then all data. */
static void integer_sort(int steps)
{
	int *counts = calloc((size_t)size, sizeof(*counts)),
	    *zeros = calloc((size_t)size, sizeof(*zeros));
	int *values = calloc((size_t)size, sizeof(*values));
	int *sorted = calloc((size_t)size, sizeof(*sorted));

	for (int i = 0; i < size; i++)
		counts[i] = 0;
	for (int step = 0; step < steps; step++) {
		compute(4 * work_us);
		norm();
		made += 2;
		MPI_Alltoall(values, 1, MPI_INT, counts, 1, MPI_INT, MPI_COMM_WORLD);
		MPI_Alltoallv(values, zeros, zeros, MPI_INT, sorted, zeros, zeros, MPI_INT,
				MPI_COMM_WORLD);
	}
	free(counts);
	free(zeros);
	free(values);
	free(sorted);
}

/* A master that gives each worker its next piece of work. */
static void master(int steps)
{
	int piece = 0;
	MPI_Status status;

	for (int asked = 0; asked < steps + size - 1; asked++) {
		made += 2;
		MPI_Recv(&piece, 1, MPI_INT, MPI_ANY_SOURCE, ASKS, MPI_COMM_WORLD, &status);
		piece = asked < steps;
		MPI_Send(&piece, 1, MPI_INT, status.MPI_SOURCE, TAG, MPI_COMM_WORLD);
	}
}

static void worker(void)
{
	int piece = 1;

	while (piece) {
		made += 2;
		MPI_Send(&piece, 1, MPI_INT, 0, ASKS, MPI_COMM_WORLD);
		MPI_Recv(&piece, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		compute(work_us);
	}
}

static void workers(int steps)
{
	if (rank == 0)
		master(steps);
	else
		worker();
}

/* A solver that needs another number of inner steps in each step. */
static void solver(int steps)
{
	unsigned state = 1;

	for (int step = 0; step < steps; step++) {
		state = state * 1103515245u + 12345u;
		compute(work_us);
		copy_faces(2);
		for (unsigned inner = 3 + (state >> 16) % 5; inner; inner--) {
			compute(work_us);
			norm();
		}
	}
}

/* A solver of which each rank needs other numbers of inner steps. They concern no other rank. */
static void uneven(int steps)
{
	unsigned state = 1 + 7 * (unsigned)rank;

	for (int step = 0; step < steps; step++) {
		compute(work_us);
		copy_faces(2);
		state = state * 1103515245u + 12345u;
		for (unsigned inner = 3 + (state >> 16) % 7; inner; inner--) {
			made += 2;
			MPI_Allreduce(data, other, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF);
			MPI_Barrier(MPI_COMM_SELF);
		}
	}
}

/* Every 10 steps the program does something else. */
static void changes(int steps)
{
	for (int step = 0; step < steps; step++) {
		compute(work_us);
		if (step / 10 % 2)
			norm();
		else
			copy_faces(2);
	}
}

/* Returns a number that is the same on all ranks. */
static unsigned random_number(unsigned *state)
{
	*state = *state * 1103515245u + 12345u;
	return *state >> 16;
}

/* Calls of one of four kinds. */
static void exchange(int kind)
{
	compute(work_us);
	switch (kind) {
	case 0:
		copy_faces(1);
		break;
	case 1:
		made++;
		MPI_Barrier(MPI_COMM_WORLD);
		break;
	case 2:
		made++;
		MPI_Bcast(data, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		break;
	default:
		pass_on((rank + 1) % size, (rank + size - 1) % size);
	}
}

/* Each step has other messages, in another order, and at its end a norm. */
static void adaptive(int steps)
{
	unsigned state = 1;

	for (int step = 0; step < steps; step++) {
		int order[4] = { 0, 1, 2, 3 };

		compute(4 * work_us);
		for (int i = 3; i >= 0; i--) {
			int other_one = (int)(random_number(&state) % (unsigned)(i + 1));
			int kind = order[other_one];

			order[other_one] = order[i];
			if (random_number(&state) % 4)
				exchange(kind);
		}
		norm();
	}
}

/* No order at all. */
static void disorder(int steps)
{
	unsigned state = 1;

	for (int step = 0; step < steps; step++) {
		unsigned kind = random_number(&state) % 4;

		if (kind) {
			exchange((int)kind % 3);
			continue;
		}
		compute(work_us);
		norm();
	}
}

static const struct {
	const char *name;
	void (*run)(int steps);
} shapes[] = {
	{ "multi_partition", multi_partition },
	{ "wavefront", wavefront },
	{ "conjugate_gradient", conjugate_gradient },
	{ "v_cycle", v_cycle },
	{ "integer_sort", integer_sort },
	{ "workers", workers },
	{ "solver", solver },
	{ "uneven", uneven },
	{ "changes", changes },
	{ "adaptive", adaptive },
	{ "disorder", disorder },
};

static void die(int number)
{
	(void)number;
	kill(getpid(), SIGKILL);
}

static void die_after(int milliseconds)
{
	struct itimerval timer = { .it_value = { milliseconds / 1000,
						   milliseconds % 1000 * 1000 } };

	signal(SIGALRM, die);
	setitimer(ITIMER_REAL, &timer, NULL);
}

int main(int argc, char **argv)
{
	int steps = argc > 2 ? atoi(argv[2]) : 0, found = 0;
	const char *work = getenv("SHAPES_WORK_US");

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (work)
		work_us = atof(work);
	if (argc > 3 && rank == size - 1)
		die_after(atoi(argv[3]));
	for (size_t i = 0; argc > 2 && i < sizeof(shapes) / sizeof(*shapes); i++)
		if (strcmp(argv[1], shapes[i].name) == 0) {
			shapes[i].run(steps);
			found = 1;
		}
	MPI_Finalize();
	if (!found)
		fprintf(stderr, "shapes: no shape %s\n", argc > 1 ? argv[1] : "");
	else if (rank == 0)
		printf("calls %d\n", made + 2); /* with MPI_Init and MPI_Finalize */
	return !found;
}
