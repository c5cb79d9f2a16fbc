/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the core needs of MPI, without mpi.h: a private communicator, and collectives on bytes. One
 * shared object per MPI implementation is compiled from mpi_adapter.c, and opened when MPI_Init
 * tells which library runs. All calls go to PMPI_ and to the private communicator alone.
 *
 * Only the thread that may call MPI calls these, one at a time. 0 or -EIO (MPI said no) throughout;
 * errors of MPI never reach the program's own error handlers.
 */
#ifndef PHASEMUX_AGENT_MPI_ADAPTER_H
#define PHASEMUX_AGENT_MPI_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mpi_world {
	int rank;
	int size;
	bool threads;      /* the program asked for MPI_THREAD_MULTIPLE or SERIALIZED */
	char library[128]; /* "Open MPI v4.1.4" */
};

/* Merges `in` into `inout`; both are as long as reduce_start was told. */
typedef void (*mpi_merge)(const void *in, void *inout);

struct mpi_adapter {
	/*
	 * Fills world, calls the roll (agent/roll.h), and makes the private communicator: all ranks together.
	 * -ENOTCONN: not all ranks have an agent, and one of them said so on stderr.
	 */
	int (*open)(struct mpi_world *world);
	/*
	 * What a reduction and a broadcast of so many bytes make the MPI library allocate, it
	 * allocates now: each message comes when nobody waits for it, as it may then. Waits for the
	 * ranks next to this one in the tree; both buffers are as long as the longer of the two.
	 */
	int (*rehearse)(void *out, void *in, size_t reduced, size_t broadcast);
	/*
	 * Starts a reduction of `bytes` from all ranks to rank 0 by merge (associative and
	 * commutative), or a broadcast from rank 0. One is under way at a time; all ranks start
	 * the same ones in the same order. The buffers belong to MPI until it is done. What all
	 * ranks together have is then in rank 0's `part`; scratch is as long as it, and both are
	 * written on every rank. Advances in test and wait alone.
	 */
	int (*reduce_start)(void *part, void *scratch, size_t bytes, mpi_merge merge);
	int (*broadcast_start)(void *buffer, size_t bytes);
	/* Has what was started come to its end? 1, 0 or -EIO. */
	int (*test)(void);
	int (*wait)(void);
	/*
	 * Element-wise sums of doubles, in rank 0's `values`, while no round is under way; those of the others
	 * are partial sums then. A rank waits for those below it in the tree alone.
	 */
	int (*sum)(double *values, size_t count);
	/* Waits for the others: element-wise maxima of doubles, in the `values` of all ranks. */
	int (*max)(double *values, size_t count);
	/* Frees all that was made. Nothing may be under way. */
	void (*close)(void);
};

/* The adapter's one exported symbol: `const struct mpi_adapter *phasemux_mpi_adapter(void)`. */
#define MPI_ADAPTER_ENTRY "phasemux_mpi_adapter"

#endif
