/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Classifies bursts, and books each to the open quantum of its thread, the sample for the next training and the
 * profile. Bursts that no prototype claims wait for the next generation. Call all functions in a drain of the
 * thread.
 */
#ifndef PHASEMUX_AGENT_LEDGER_BOOK_H
#define PHASEMUX_AGENT_LEDGER_BOOK_H

#include <stdint.h>

#include "agent/ledger/ledger_state.h"

/* Adds the thread's open quantum to the sums, and removes the spool's copy. Caller holds the ledger lock. */
void ledger_fold_quantum(struct ledger *ledger, struct thread *thread);

/* Adds the samples at a burst's address to the profile, in bursts of a prototype. Takes the ledger lock. */
void ledger_locate(struct ledger *ledger, unsigned prototype, const struct burst *burst);

/* Adds a timeline of a thread to that of the process, and empties it. Caller holds the ledger lock. */
void book_pour(struct ledger *ledger, struct timeline *timeline, uint64_t now);

/* Adds ticks of a burst that is in no prototype to the timeline. Takes the ledger lock if the burst is old. */
void ledger_time_kind(struct ledger *ledger, struct thread *thread, enum timeline_kind kind,
		const struct burst *burst, uint64_t ticks);

/* Leaves a burst to be placed at the end like the read bursts of its span and length. May take the ledger lock. */
void ledger_leave(struct ledger *ledger, struct thread *thread, const struct burst *burst);

/* Classifies and books a burst. Returns its prototype, or -1 if it is pending or was given up. */
int ledger_drain_burst(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst);

/* Adds the thread's open quantum to the sums. Takes the ledger lock. */
void book_close_quantum(struct ledger *ledger, struct thread *thread);

/* Books the thread's pending bursts that the new generation claims. */
void book_settle_pending(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table);

/* Books each pending burst to the prototype that is the best guess, or gives it up. For the thread's end. */
void book_settle_last(struct ledger *ledger, struct thread *thread);

#endif
