/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of an intercepted call: the least nanoseconds per call of a cheap one (MPI_Startall of no
 * request), over batches. It runs both bare and under the preload. `LIBRARY` adds the same reads and time stamps
 * around every call, done by hand in the cheapest way. `lock` measures the lock and unlock of a free mutex, which is
 * no boundary of a burst. The others measure a send to MPI_PROC_NULL: `message` with the same arguments each time,
 * `sizes` with seven sizes in turn, `random` with sizes in no order, and `communicator` in one that the program made.
 *
 *	calls.MPI [LIBRARY | lock | message | sizes | random | communicator] BATCHES
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BATCH 20000

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
};

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
	printf("%.2f\n", least);
	MPI_Finalize();
	return 0;
}
