/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rounds in which the ranks learn their phases together. All ranks start the same rounds in the same order,
 * each at its own moments, inside MPI calls that the program makes anyway. No rank waits for another before
 * MPI_Finalize. The ranks' parts are merged on their way up a tree, in messages of a few kilobytes. Rank 0
 * trains on the result, and its answer goes down the tree. Rank 0 makes the time between rounds ever longer.
 * While phases do not change, that time depends on the cost of its trainings. If leads are named, there are rounds in
 * between in which ranks only vote on their loops.
 *
 * With MPI, only the thread that called MPI_Init calls these functions, while it is in an MPI call.
 */
#ifndef PHASEMUX_AGENT_ROUNDS_EXCHANGE_H
#define PHASEMUX_AGENT_ROUNDS_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/ledger/ledger.h"
#include "agent/ledger/training.h"
#include "agent/leads/votes.h"
#include "agent/mpi/mpi_adapter.h"
#include "agent/region/region_choice.h"
#include "agent/rounds/family.h"
#include "agent/rounds/history.h"

struct exchange;

/*
 * Returns a new exchange, or NULL if there is no memory. adapter: NULL if there is none for this MPI; the rank
 * then trains alone, or with its family if that is not NULL. share: part of rank 0's time that trainings may
 * take. start: of the run, in ticks of the clock.
 */
struct exchange *exchange_new(const struct mpi_adapter *adapter, struct family *family,
		struct ledger *ledger, int rank, double share, uint64_t start);
/*
 * Names leads in each round from now on, which read for others (agent/leads/leads.h). readers: leads of a shape; 0: auto.
 * groups: of events. medoids: as in struct votes. Call on all ranks.
 */
void exchange_name_leads(struct exchange *exchange, uint32_t readers, unsigned groups,
		bool medoids);
/*
 * Looks for a region of this size in each round from now on (agent/region/steady.h). Call on all ranks.
 */
void exchange_choose_region(struct exchange *exchange, const struct region_wish *wish);
/* Returns what was chosen. Call on rank 0. NULL: no region is wanted. */
const struct region_choice *exchange_region(const struct exchange *exchange);
/* Returns the shapes that had leads, as they were named last; NULL: no leads are named. */
const struct votes *exchange_leads(const struct exchange *exchange);
/*
 * Returns the last answer to the votes of most ranks: the clusters of the ranks by what they repeat. NULL: no leads are named.
 */
const struct votes *exchange_clusters(const struct exchange *exchange);
/* Returns the sample of the bursts of all ranks. Call on rank 0 after exchange_finish. */
const struct reservoir *exchange_sample(const struct exchange *exchange);
/* Returns the trainings of the run. Call on rank 0. */
const struct history *exchange_history(const struct exchange *exchange);
/* Frees an exchange with no round under way. Does nothing for NULL. */
void exchange_free(struct exchange *exchange);
/* Returns the bytes of memory that the exchange has touched. */
size_t exchange_bytes(const struct exchange *exchange);

/*
 * Exchanges the messages of a round without content, and waits for the other ranks. Thus MPI allocates here, in
 * MPI_Init, what it needs for that number of messages, for new neighbours, and for messages that arrive before
 * they are waited for. Open MPI takes 107 KB, and 84 KB for each rank below in the tree. If it took them in the
 * midst of the program, they would lie above what the program has just allocated, and stay there.
 */
void exchange_rehearse(struct exchange *exchange);

/* Starts a round if one is due, or advances the one under way. now: ticks of the clock. */
void exchange_step(struct exchange *exchange, struct thread *threads, uint64_t now);

/* Returns whether a round is under way, so that the next step should come soon. */
bool exchange_busy(const struct exchange *exchange);

/* Waits until all ranks are in MPI_Finalize. Call there, before exchange_finish. Returns 0 or -EIO. */
int exchange_meet(struct exchange *exchange);

/*
 * Completes the round under way, starts those that other ranks have started, and makes the last one. Call on
 * all ranks, after exchange_meet. Returns 0 or -EIO.
 */
int exchange_finish(struct exchange *exchange, struct thread *threads);

/* Returns the number of rounds that were started, by the whole family if there is one. */
unsigned exchange_rounds(const struct exchange *exchange);

#endif
