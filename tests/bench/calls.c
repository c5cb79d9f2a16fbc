/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of an intercepted call: the least nanoseconds per call of a cheap one (MPI_Startall of no
 * request), over batches. It runs both bare and under the preload. `LIBRARY` adds the same reads and time stamps
 * around every call, done by hand in the cheapest way. `lock` measures the lock and unlock of a free mutex, which is
 * no boundary of a burst. The others measure a send to MPI_PROC_NULL: `message` with the same arguments each time,
 * `sizes` with seven sizes in turn, `random` with sizes in no order, `communicator` in one that the program made, `type` of
 * a type that it made, `places` from six places in turn, and `steps` in steps that also compute, as leads need them. `window`
 * measures MPI_Put to MPI_PROC_NULL, `wait` a receive from there and the wait for it, and `waitall` eight receives and the
 * wait for all of them. Rank 0 prints the number of each rank.
 *
 *	calls.MPI [LIBRARY | lock | message | sizes | random | communicator | type | places | steps | window | wait |
 *		waitall] BATCHES
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH     20000
#define RANKS_MAX 16
#define STEP      1000   /* sends of a step */
#define STEP_WORK 100000 /* additions */

/* tests/bench/by_hand.c */
struct by_hand {
	int (*open)(void);
	void (*around)(void);
};

static double batch(void (*around)(void))
{
	MPI_Request request = MPI_REQUEST_NULL;
	double begin;

	begin = MPI_Wtime();
	for (int i = 0; i < BATCH; i++) {
		if (around)
			around();
		MPI_Startall(0, &request);
		if (around)
			around();
	}
	return (MPI_Wtime() - begin) / BATCH * 1e9;
}

static double batch_of_locks(void)
{
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	double begin = MPI_Wtime();

	for (int i = 0; i < BATCH; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return (MPI_Wtime() - begin) / BATCH * 1e9;
}

static double batch_of_sends(int sizes, MPI_Comm communicator)
{
	static int data[256];
	unsigned random = 1;
	double begin = MPI_Wtime();

	for (int i = 0; i < BATCH; i++) {
		int count = i % sizes;

		if (sizes == BATCH)
			count = (int)((random = random * 1664525u + 1013904223u) >> 24);
		MPI_Send(data, count, MPI_INT, MPI_PROC_NULL, 1, communicator);
	}
	return (MPI_Wtime() - begin) / BATCH * 1e9;
}

static double batch_of_messages(void)
{
	return batch_of_sends(1, MPI_COMM_WORLD);
}

static double batch_of_sizes(void)
{
	return batch_of_sends(7, MPI_COMM_WORLD);
}

static double batch_at_random(void)
{
	return batch_of_sends(BATCH, MPI_COMM_WORLD);
}

static double batch_of_communicator(void)
{
	static MPI_Comm copy = MPI_COMM_NULL;

	if (copy == MPI_COMM_NULL)
		MPI_Comm_dup(MPI_COMM_WORLD, &copy);
	return batch_of_sends(1, copy);
}

static double batch_of_types(void)
{
	static MPI_Datatype type = MPI_DATATYPE_NULL;
	static int data[64];
	double begin;

	if (type == MPI_DATATYPE_NULL) {
		MPI_Type_vector(3, 2, 4, MPI_INT, &type);
		MPI_Type_commit(&type);
	}
	begin = MPI_Wtime();
	for (int i = 0; i < BATCH; i++)
		MPI_Send(data, 1, type, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	return (MPI_Wtime() - begin) / BATCH * 1e9;
}

static double batch_of_places(void)
{
	static int data[64];
	double begin = MPI_Wtime();

	for (int i = 0; i < BATCH; i += 6) {
		MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
		MPI_Send(data, 2, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
		MPI_Send(data, 3, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
		MPI_Send(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
		MPI_Send(data, 5, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
		MPI_Send(data, 6, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	}
	return (MPI_Wtime() - begin) / BATCH * 1e9;
}

/* A step computes, makes another call, and sends. Returns the time of a send. */
static double batch_of_steps(void)
{
	static MPI_Request none = MPI_REQUEST_NULL;
	static int data[64];
	volatile double sum = 0;
	double begin;

	for (int i = 0; i < STEP_WORK; i++)
		sum = sum + i;
	MPI_Startall(0, &none);
	begin = MPI_Wtime();
	for (int i = 0; i < STEP; i++)
		MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
	return (MPI_Wtime() - begin) / STEP * 1e9;
}

static double batch_of_window(void)
{
	static int data[64];
	MPI_Win window;
	double begin;

	MPI_Win_create(data, sizeof(data), sizeof(*data), MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	MPI_Win_fence(0, window);
	begin = MPI_Wtime();
	for (int i = 0; i < BATCH; i++)
		MPI_Put(data, 1, MPI_INT, MPI_PROC_NULL, 0, 1, MPI_INT, window);
	begin = MPI_Wtime() - begin;
	MPI_Win_fence(0, window);
	/* MPICH ends with an error if a window is left at the end of the program */
	MPI_Win_free(&window);
	return begin / BATCH * 1e9;
}

/* Opens requests at places of their own, and waits for them. Returns the time of a call. */
static double batch_of_waits(int requests)
{
	static int data[64];
	MPI_Request request[8];
	MPI_Status statuses[8];
	double begin = MPI_Wtime();

	for (int i = 0; i < BATCH; i += requests + 1) {
		for (int j = 0; j < requests; j++)
			MPI_Irecv(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &request[j]);
		if (requests == 1)
			MPI_Wait(request, MPI_STATUS_IGNORE);
		else
			MPI_Waitall(requests, request, statuses);
	}
	return (MPI_Wtime() - begin) / BATCH * 1e9;
}

static double batch_of_single_waits(void)
{
	return batch_of_waits(1);
}

static double batch_of_common_waits(void)
{
	return batch_of_waits(8);
}

/* Batches without a library. */
static const struct way {
	const char *name;
	double (*batch)(void);
} ways[] = {
	{ "lock", batch_of_locks },
	{ "message", batch_of_messages },
	{ "sizes", batch_of_sizes },
	{ "random", batch_at_random },
	{ "communicator", batch_of_communicator },
	{ "type", batch_of_types },
	{ "places", batch_of_places },
	{ "steps", batch_of_steps },
	{ "window", batch_of_window },
	{ "wait", batch_of_single_waits },
	{ "waitall", batch_of_common_waits },
};

static void print_least(double least)
{
	double all[RANKS_MAX];
	int rank, ranks;

	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	if (ranks > RANKS_MAX)
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Gather(&least, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	for (int i = 0; rank == 0 && i < ranks; i++)
		printf("%.2f%c", all[i], i + 1 < ranks ? ' ' : '\n');
}

int main(int argc, char **argv)
{
	const char *library = argc > 2 ? argv[1] : NULL;
	int batches = argc > 1 ? atoi(argv[argc - 1]) : 50;
	struct by_hand by_hand = { NULL, NULL };
	const struct way *way = NULL;
	double least = 1e30;

	MPI_Init(&argc, &argv);
	for (size_t i = 0; library && i < sizeof(ways) / sizeof(ways[0]); i++)
		if (strcmp(library, ways[i].name) == 0)
			way = &ways[i];
	if (library && !way) {
		void *handle = dlopen(library, RTLD_NOW);

		if (handle) {
			*(void **)&by_hand.open = dlsym(handle, "by_hand_open");
			*(void **)&by_hand.around = dlsym(handle, "by_hand_around");
		}
		if (!by_hand.open || !by_hand.around || by_hand.open()) {
			fprintf(stderr, "calls: %s cannot count here\n", library);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
	}
	for (int i = 0; i < batches; i++) {
		double ns = way ? way->batch() : batch(by_hand.around);

		least = ns < least ? ns : least;
	}
	print_least(least);
	MPI_Finalize();
	return 0;
}
