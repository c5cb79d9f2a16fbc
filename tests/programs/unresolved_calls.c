/* SPDX-License-Identifier: BSD-3-Clause */
/* A library whose calls are bound when they are made, and which no object defines. */
#include <string.h>

int MPI_Send(const void *data, int count, int type, int to, int tag, int comm);
void mpi_barrier_(int *comm, int *error);
void GOMP_barrier(void);
void omp_set_lock(void *lock);
void GOMP_parallel(void (*body)(void *), void *data, unsigned threads, unsigned flags);

int make_unresolved_call(const char *what);

static void body(void *data)
{
	++*(int *)data;
}

int make_unresolved_call(const char *what)
{
	int times = 0;
	long lock = 0;

	if (strcmp(what, "mpi") == 0)
		MPI_Send(&times, 1, 0, 0, 0, 0);
	if (strcmp(what, "fortran") == 0)
		mpi_barrier_(&times, &times);
	if (strcmp(what, "barrier") == 0)
		GOMP_barrier();
	if (strcmp(what, "lock") == 0)
		omp_set_lock(&lock);
	if (strcmp(what, "region") == 0)
		GOMP_parallel(body, &times, 0, 0);
	return times;
}
