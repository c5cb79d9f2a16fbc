/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the ledger's data to the spool, because the process may be killed at any moment. */
#ifndef PHASEMUX_AGENT_LEDGER_CHECKPOINT_H
#define PHASEMUX_AGENT_LEDGER_CHECKPOINT_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/thread/thread.h"
#include "cluster/prototypes.h"

struct ledger;

/*
 * Saves to the spool what the thread has booked, counted and not classified up to now. Does nothing while the
 * thread is drained. Call right after a drain, because bursts that are still in the ring are not saved. quiet:
 * the caller is the thread itself, or the thread reads no more bursts. Otherwise call sites are not saved.
 */
void ledger_checkpoint(struct ledger *ledger, struct thread *thread, uint64_t now, bool quiet);

/* Like ledger_checkpoint(), and saves the structure of the calls as well. Call on the thread itself. */
void ledger_checkpoint_structure(struct ledger *ledger, struct thread *thread, uint64_t now);

/* Saves the phases of a new table to the spool. Call before a burst can go to a new prototype. */
void ledger_save_table(struct ledger *ledger, const struct prototype_table *table);

#endif
