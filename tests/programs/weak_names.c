/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds out whether there is an MPI or an OpenMP, by weak symbols and by dlsym, as libraries do that work with
 * and without one. Prints the loader's message if there is none. With the path of a library, it asks again
 * after opening that.
 */
#include <dlfcn.h>
#include <stdio.h>

extern int MPI_Init(int *argc, char ***argv) __attribute__((weak));
extern int MPI_Barrier(int comm) __attribute__((weak));
extern int MPI_Session_finalize(void *session) __attribute__((weak));
extern void mpi_send_(void) __attribute__((weak));
extern void GOMP_barrier(void) __attribute__((weak));
extern void omp_set_lock(void *lock) __attribute__((weak));

static void *table[] = { MPI_Init, MPI_Barrier }; /* in the program's data */

static void ask(const char *name)
{
	const char *words;
	int has;

	dlerror();
	has = dlsym(RTLD_DEFAULT, name) != NULL;
	words = dlerror();
	printf("%s: %d, %s\n", name, has, words ? words : "no error");
}

int main(int argc, char **argv)
{
	static const char *const names[] = { "MPI_Init", "MPI_Send", "MPI_Session_init",
		"mpi_init_", "mpi_init_f08_", "PMPI_Finalize", "GOMP_parallel", "omp_set_lock",
		"ompt_start_tool", "pthread_create" };

	printf("weak: %d %d %d %d %d %d %d\n", MPI_Init != 0, MPI_Barrier != 0,
			MPI_Session_finalize != 0, mpi_send_ != 0, GOMP_barrier != 0,
			omp_set_lock != 0, table[0] != NULL || table[1] != NULL);
	for (int round = 0; round < argc; round++) {
		if (round > 0 && !dlopen(argv[round], RTLD_NOW | RTLD_GLOBAL))
			printf("%s\n", dlerror());
		for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
			ask(names[i]);
	}
	return 0;
}
