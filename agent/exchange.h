/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rounds in which the ranks learn their phases together. Each rank starts the same rounds in
 * the same order, each at a moment of its own, inside MPI calls that the program makes anyway, and
 * none waits for another before MPI_Finalize: the ranks' parts are merged on their way up a tree, in
 * messages of a few kilobytes, to rank 0, which trains, and the answer goes down the tree. Rounds are
 * spaced ever wider, by what rank 0 says; where phases stay what they are, by what its trainings cost.
 *
 * One thread alone calls these: the one that called MPI_Init, while it is in an MPI call.
 */
#ifndef PHASEMUX_AGENT_EXCHANGE_H
#define PHASEMUX_AGENT_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/family.h"
#include "agent/ledger.h"
#include "agent/mpi_adapter.h"

struct exchange;

/*
 * adapter: NULL where there is none for this MPI; the rank then trains alone, or with its family,
 * where it has one. share: of rank 0's time that trainings may take. NULL: no memory.
 */
struct exchange *exchange_new(const struct mpi_adapter *adapter, struct family *family,
		struct ledger *ledger, int rank, double share, uint64_t start);
/* When nothing is under way; NULL is nothing. */
void exchange_free(struct exchange *exchange);
/* Of the memory that it has touched. */
size_t exchange_bytes(const struct exchange *exchange);

/*
 * The messages of a round, with nothing in them; waits for the other ranks. What MPI allocates when a
 * rank first has so many under way, or first sends to another one, or gets them before it waits for
 * them, it allocates here, in MPI_Init. In the midst of the program (Open MPI: 107 KB, and 84 KB for
 * each rank below in the tree) it would lie above what the program has allocated just then, and stay.
 */
void exchange_rehearse(struct exchange *exchange);

/* A moment of this rank: starts a round when its time has come, or looks after the one under way. */
void exchange_step(struct exchange *exchange, const struct thread *threads, uint64_t now);

/* Is one under way, so that the next step should come soon? */
bool exchange_busy(const struct exchange *exchange);

/* In MPI_Finalize, first: waits until all ranks have come to it. 0 or -EIO. */
int exchange_meet(struct exchange *exchange);

/*
 * Then, on all ranks: completes what is under way, evens out the number of rounds, and makes the
 * last one. 0 or -EIO.
 */
int exchange_finish(struct exchange *exchange, const struct thread *threads);

unsigned exchange_rounds(const struct exchange *exchange);

#endif
