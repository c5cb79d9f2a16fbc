/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the arguments of the program's own calls mean. The functions are called within such a call, and are local:
 * they send nothing and wait for no other process. A handle is a C handle, or (fortran) the number that Fortran has.
 */
#ifndef PHASEMUX_AGENT_MPI_MPI_ARGUMENTS_H
#define PHASEMUX_AGENT_MPI_MPI_ARGUMENTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Numbers of communicators. All members of a communicator make the calls that make others from it, in one order. So the n-th
 * one that is made from another one has the same number in all of its members, although no message is sent: n + 1 if it is
 * made from MPI_COMM_WORLD, and a thousand times the number of the other one plus n if not. Parts of a split have one number.
 * Where this is no small number, it is a hash. Those whose making was not seen are numbered from MPI_ARGUMENTS_OWN on, in the
 * order in which this process first uses them.
 */
#define MPI_ARGUMENTS_WORLD 0 /* number of MPI_COMM_WORLD */
#define MPI_ARGUMENTS_SELF  1 /* of MPI_COMM_SELF */
#define MPI_ARGUMENTS_MADE                                                                         \
	1000 /* those that are made from one, and have no hash, are fewer than this */
#define MPI_ARGUMENTS_OWN    1000000000
#define MPI_ARGUMENTS_HASHED 1500000000 /* hashes are from here on */

struct mpi_member {
	int communicator; /* its number */
	int rank;         /* of this process in it */
	bool inter;       /* it joins two groups, and a peer is in the other one */
};

struct mpi_arguments {
	int proc_null, any_source, any_tag; /* values of arguments */
	unsigned handle_bytes;              /* of a C handle in memory */
	/* MPI_REQUEST_NULL in C, and the number that Fortran has for it. It is known when open() has returned. */
	const long *request_null;
	/* Prepares the others. Call once, before them. Returns 0 or -EIO. */
	int (*open)(void);
	/*
	 * Rises whenever a communicator or window is freed of which member() or window_rank() has told, whatever call and
	 * thread frees it. Until then, what they told is so. It is never 0.
	 */
	const _Atomic(uint64_t) *freed;
	/* Returns the bytes of an element of a datatype, or -1 if they are not known. */
	int (*type_bytes)(long handle, bool fortran);
	/* Returns whether MPI itself defines a datatype. Such a type is never freed, and no other one gets its handle. */
	bool (*type_is_named)(long handle, bool fortran);
	/* Returns false if the communicator is none. Its first call for a communicator may allocate memory within MPI. */
	bool (*member)(long handle, bool fortran, struct mpi_member *member);
	/* Returns the number of processes of a communicator, or 0 if it is not known. */
	int (*members)(long handle, bool fortran);
	/* Finds the rank of this process in the group of a window. Returns false if the window is none. */
	bool (*window_rank)(long handle, bool fortran, int *rank);
	/*
	 * Counts a communicator that is made from another one, by a call that all of its members make. Returns the number of
	 * the new one, or -1 if the other one is none.
	 */
	int (*make)(long handle, bool fortran);
	/* Gives a communicator that was made its number. */
	void (*made)(long handle, bool fortran, int number);
	void (*close)(void);
};

extern const struct mpi_arguments mpi_arguments;

#endif
