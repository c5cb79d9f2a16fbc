/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the arguments of the program's own calls mean. The functions are called within such a call, and are local:
 * they send nothing and wait for no other process. A handle is a C handle, or (fortran) the number that Fortran has.
 */
#ifndef PHASEMUX_AGENT_MPI_MPI_ARGUMENTS_H
#define PHASEMUX_AGENT_MPI_MPI_ARGUMENTS_H

#include <stdbool.h>

#define MPI_ARGUMENTS_WORLD 0 /* number of MPI_COMM_WORLD */
#define MPI_ARGUMENTS_SELF                                                                         \
	1 /* of MPI_COMM_SELF; others are numbered in the order in which they are first seen */

struct mpi_member {
	int communicator; /* its number in this process */
	int rank;         /* of this process in it */
	bool inter;       /* it joins two groups, and a peer is in the other one */
};

struct mpi_arguments {
	int proc_null, any_source, any_tag; /* values of arguments */
	unsigned handle_bytes;              /* of a C handle in memory */
	/* Prepares the others. Call once, before them. Returns 0 or -EIO. */
	int (*open)(void);
	/* Returns the bytes of an element of a datatype, or -1 if they are not known. */
	int (*type_bytes)(long handle, bool fortran);
	/* Returns false if the communicator is none. Its first call for a communicator may allocate memory within MPI. */
	bool (*member)(long handle, bool fortran, struct mpi_member *member);
	/* Returns the number of processes of a communicator, or 0 if it is not known. */
	int (*members)(long handle, bool fortran);
	void (*close)(void);
};

extern const struct mpi_arguments mpi_arguments;

#endif
