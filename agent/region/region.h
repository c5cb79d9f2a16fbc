/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records the region of the thread that called MPI_Init (PHASEMUX_REGION). The thread counts the iterations of the loop that it
 * repeats, by one call of it, its anchor. When rank 0 has ordered the region (steady.h), the thread writes each call with the
 * burst before it to a file of its own, from the iteration that was ordered on. No thread and no rank waits for another.
 *
 * From the order to the end of the region no call is skipped, and none is made in a rest. Memory is mapped once, and the file
 * is bounded by the order.
 *
 * Only the thread itself calls these functions, unless said otherwise. Threads without a region pay nothing, because they are
 * called in state machines that such threads do not have either (agent/leads/leads.h).
 */
#ifndef PHASEMUX_AGENT_REGION_REGION_H
#define PHASEMUX_AGENT_REGION_REGION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/region/region_state.h"
#include "agent/region/region_totals.h"
#include "agent/region/steady.h"
#include "agent/thread/thread.h"

/* What all ranks know of the region's file. */
struct region_setup {
	const char *folder; /* of the results; outlives the threads */
	const char *host;
	const struct counting *counting; /* outlives the threads */
	uint64_t run, start;             /* as in struct region_facts */
	int rank, size;
};

/* Gives a thread whose loops are followed a region. Returns 0 or -ENOMEM. thread_free frees it. */
int region_open(struct thread *thread, const struct region_setup *setup);

/* Looks at the call of a site, which has returned at time now, before it is added to the structure. */
void region_look(struct thread *thread, uint32_t site, uint64_t now);

/* Returns whether each call is to be observed. Any thread may call it for its own struct. */
static inline bool region_holds(const struct thread *thread)
{
	const struct region *region = thread->structure.region;

	return region && (region->state == REGION_ARMED || region->state == REGION_RECORDING);
}

/*
 * Fills this rank's part of a round. anchor: of the loop that the thread repeats now. table: of the phases.
 */
void region_vote(struct thread *thread, const struct region_anchor *anchor,
		const struct prototype_table *table, struct region_part *part);

/* Takes the answer of rank 0. Opens the file if a loop of this thread is in it. */
void region_take_order(struct thread *thread, const struct region_order *order);

/* Writes what is recorded to the file, so that a kill does not lose it. */
void region_keep(struct thread *thread);

/* Ends the region with the run, at the latest. */
void region_finish(struct thread *thread);

/* Adds what was recorded. Any thread may call it after region_finish. */
void region_total(const struct thread *thread, struct region_totals *totals);

#endif
