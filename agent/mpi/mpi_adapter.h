/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The interface to MPI for the core: a private communicator, and collectives on bytes. One shared object for each
 * family of MPIs (mpi_family.h) is compiled from mpi_adapter.c. It is opened when MPI_Init shows which library runs.
 * It calls only PMPI_ functions, and uses only the private communicator.
 *
 * Only the thread that may call MPI calls these functions, one at a time. Unless said otherwise they return 0,
 * or -EIO if MPI refused a call. Errors of MPI never reach the program's own error handlers.
 */
#ifndef PHASEMUX_AGENT_MPI_MPI_ADAPTER_H
#define PHASEMUX_AGENT_MPI_MPI_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/mpi/mpi_arguments.h"

struct mpi_world {
	int rank;
	int size;
	bool threads;      /* the program asked for MPI_THREAD_MULTIPLE or SERIALIZED */
	char library[128]; /* "Open MPI v4.1.4" */
};

/* Merges `in` into `inout`, both of the `bytes` of reduce_start. */
typedef void (*mpi_merge)(const void *in, void *inout);

struct mpi_adapter {
	/*
	 * Fills world, calls the roll (agent/mpi/roll.h), and makes the private communicator. Call on all ranks.
	 * Returns -ENOTCONN if a rank has no agent, and then one of the others has said so on stderr.
	 */
	int (*open)(struct mpi_world *world);
	/*
	 * Makes the MPI library allocate now what it needs for a reduction of `reduced` bytes and a broadcast
	 * of `broadcast` bytes. Each message arrives before it is waited for, as may happen later. Waits for
	 * the ranks next to this one in the tree. Both buffers are as long as the larger of the two.
	 */
	int (*rehearse)(void *out, void *in, size_t reduced, size_t broadcast);
	/*
	 * Start a reduction of `bytes` from all ranks to rank 0 by merge (associative and commutative), or a
	 * broadcast from rank 0. Only one may be under way, and all ranks start the same ones in the same
	 * order. The buffers belong to MPI until it is done. The merged parts are then in rank 0's `part`.
	 * `scratch` is as long as `part`, and both are written on every rank. The transfer advances only in
	 * test and wait.
	 */
	int (*reduce_start)(void *part, void *scratch, size_t bytes, mpi_merge merge);
	int (*broadcast_start)(void *buffer, size_t bytes);
	/* Returns 1 if what was started is complete, 0 if not, or -EIO. */
	int (*test)(void);
	/* Waits until what was started is complete. */
	int (*wait)(void);
	/*
	 * Adds doubles element by element. The sums are in rank 0's `values`; the other ranks have partial
	 * sums. A rank waits only for those below it in the tree. Call while no round is under way.
	 */
	int (*sum)(double *values, size_t count);
	/* Sets the `values` of all ranks to the maximum of each element. Waits for the other ranks. */
	int (*max)(double *values, size_t count);
	/* Frees the communicator. Nothing may be under way. */
	void (*close)(void);
	const struct mpi_arguments *arguments;
};

/*
 * The adapter's only exported symbol. `library` (dlopen) is the MPI, and must stay open. Returns NULL if the adapter
 * does not serve it, and writes the reason to `why`.
 */
typedef const struct mpi_adapter *mpi_adapter_entry(void *library, char *why, size_t why_size);
#define MPI_ADAPTER_ENTRY "phasemux_mpi_adapter"

#endif
