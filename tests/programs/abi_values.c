/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Prints the types and constants of an MPI that the adapter uses: those of its mpi.h (-DTHEIRS), or those that
 * phasemux has for its family, with agent/mpi/mpi_functions.c. -DABI_OPENMPI, -DABI_MPICH or -DABI_STANDARD names the
 * family. With -DTHEIRS, the prototypes must be the same as well, or this does not compile.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#ifdef THEIRS
#include <mpi.h>
#define MPI_FUNCTION(result, name, arguments) extern result(*declared_##name) arguments;
#include "agent/mpi/mpi_functions.def"
#undef MPI_FUNCTION
#define MPI_FUNCTION(result, name, arguments) result(*declared_##name) arguments = PMPI_##name;
#include "agent/mpi/mpi_functions.def"
#undef MPI_FUNCTION
#else
#include "agent/mpi/mpi_functions.h"
#endif

/* Prints a value, or the symbol at it. */
static void show(const char *name, long value)
{
	Dl_info at;

	if (dladdr((void *)value, &at) && at.dli_saddr == (void *)value)
		printf("%s %s\n", name, at.dli_sname);
	else
		printf("%s %ld\n", name, value);
}
#define SHOW(constant) show(#constant, (long)(constant))

int main(void)
{
#ifndef THEIRS
	char why[256];

	if (!mpi_functions_find(dlopen(NULL, RTLD_NOW), why, sizeof(why))) {
		fprintf(stderr, "%s\n", why);
		return 1;
	}
#endif
	SHOW(sizeof(MPI_Comm));
	SHOW(sizeof(MPI_Datatype));
	SHOW(sizeof(MPI_Errhandler));
	SHOW(sizeof(MPI_Group));
	SHOW(sizeof(MPI_Info));
	SHOW(sizeof(MPI_Op));
	SHOW(sizeof(MPI_Request));
#ifndef ABI_STANDARD /* Fortran's integers are not of the ABI */
	SHOW(sizeof(MPI_Fint));
#endif
	SHOW(sizeof(MPI_Status));
	SHOW(offsetof(MPI_Status, MPI_SOURCE));
	SHOW(offsetof(MPI_Status, MPI_TAG));
	SHOW(offsetof(MPI_Status, MPI_ERROR));
	SHOW(MPI_COMM_NULL);
	SHOW(MPI_COMM_WORLD);
	SHOW(MPI_COMM_SELF);
	SHOW(MPI_DATATYPE_NULL);
	SHOW(MPI_BYTE);
	SHOW(MPI_INT);
	SHOW(MPI_DOUBLE);
	SHOW(MPI_ERRORS_RETURN);
	SHOW(MPI_INFO_NULL);
	SHOW(MPI_MAX);
	SHOW(MPI_REQUEST_NULL);
	SHOW(MPI_IN_PLACE);
	SHOW(MPI_STATUS_IGNORE);
	SHOW(MPI_COMM_NULL_COPY_FN);
	SHOW(MPI_SUCCESS);
	SHOW(MPI_ANY_SOURCE);
	SHOW(MPI_ANY_TAG);
	SHOW(MPI_PROC_NULL);
	SHOW(MPI_UNDEFINED);
	SHOW(MPI_KEYVAL_INVALID);
#ifdef ABI_OPENMPI
	SHOW(MPI_COMBINER_NAMED);
#endif
	SHOW(MPI_TAG_UB);
	SHOW(MPI_THREAD_SINGLE);
	SHOW(MPI_THREAD_SERIALIZED);
	SHOW(MPI_MAX_LIBRARY_VERSION_STRING);
	SHOW(MPI_MAX_PORT_NAME);
	return 0;
}
