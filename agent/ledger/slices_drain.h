/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Uses the samples for the ledger: cuts long bursts into slices, and notes where in the program bursts were.
 * Call all functions in a drain of the thread.
 */
#ifndef PHASEMUX_AGENT_LEDGER_SLICES_DRAIN_H
#define PHASEMUX_AGENT_LEDGER_SLICES_DRAIN_H

#include <stdint.h>

#include "agent/ledger/ledger_state.h"

/* Drains a burst that is too short to be cut, with the samples that fell into it. */
void ledger_drain_whole(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst);

/* Adds the samples that fell into a burst that was not read to the profile. */
void ledger_drain_unread(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst);

/* Drains a long burst, in slices if it has samples before `head`. */
void ledger_drain_long(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst, uint64_t head);

/* Drains the burst under way, as far as it has samples. Call when all earlier bursts are drained. */
void ledger_drain_under_way(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table);

#endif
