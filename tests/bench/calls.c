/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the cost of an intercepted call: the least nanoseconds per call of a cheap one (MPI_Startall of no
 * request), over batches. It runs both bare and under the preload. `LIBRARY` adds the same reads and time stamps
 * around every call, done by hand in the cheapest way. `lock` measures the lock and unlock of a free mutex, which is
 * no boundary of a burst.
 *
 *	calls.MPI [LIBRARY | lock] BATCHES
 */
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
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

int main(int argc, char **argv)
{
	const char *library = argc > 2 ? argv[1] : NULL;
	int batches = argc > 1 ? atoi(argv[argc - 1]) : 50;
	struct by_hand by_hand = { NULL, NULL };
	bool locks = library && strcmp(library, "lock") == 0;
	double least = 1e30;

	MPI_Init(&argc, &argv);
	if (library && !locks) {
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
		double ns = locks ? batch_of_locks() : batch(by_hand.around);

		least = ns < least ? ns : least;
	}
	printf("%.2f\n", least);
	MPI_Finalize();
	return 0;
}
