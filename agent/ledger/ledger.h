/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger of the process. It classifies the bursts that threads have read, and keeps three things: sums per
 * prototype and counter, the sample for the next training, and the bursts that no prototype claims yet.
 *
 * ledger_drain may run on several threads at once, each for another thread's ring. Everything else is for one
 * thread at a time, and may run together with drains. The table of prototypes is read under RCU and swapped by
 * ledger_publish. One lock protects the rest. A drain takes it only when it must: once a quantum, for a burst
 * that enters the sample, for a sample in the program, and for a burst that no prototype claims.
 */
#ifndef PHASEMUX_AGENT_LEDGER_LEDGER_H
#define PHASEMUX_AGENT_LEDGER_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/setup/counting.h"
#include "agent/spool/profile.h"
#include "agent/spool/spool.h"
#include "agent/spool/totals.h"
#include "agent/thread/thread.h"
#include "cluster/prototypes.h"

struct burst_csv;
struct fold;
struct ledger;

/*
 * Returns a ledger, or NULL without memory. counting and rules must outlive it. spool: receives what is to
 * outlive the process, and must outlive the ledger; NULL: nothing is kept.
 */
struct ledger *ledger_new(const struct counting *counting, struct thread_rules *rules,
		const struct settings *settings, int rank, int ranks, struct spool *spool);
/* Frees the ledger. Call when no thread is drained any more. NULL is allowed. */
void ledger_free(struct ledger *ledger);
/* Notes in the spool the bytes of memory that the ledger and the threads have, plus `others`. */
void ledger_keep_bytes(struct ledger *ledger, const struct thread *threads, size_t others);

/* Starts adding every drained burst to the table. NULL: stops it. */
void ledger_record(struct ledger *ledger, struct burst_csv *table);

/*
 * Gives a new thread what it needs to be drained. Returns 0 or -ENOMEM. If the spool has no room for the
 * thread, it is admitted nevertheless, and thread->drain.spooled is -errno.
 */
int ledger_admit(struct ledger *ledger, struct thread *thread);

/*
 * Empties the thread's ring. Returns at once if another caller is draining the thread.
 */
void ledger_drain(struct ledger *ledger, struct thread *thread);

/* Doubles of the ledger that are added over the ranks, in place. */
struct ledger_piece {
	double *values;
	size_t length;
};

#define LEDGER_PIECES 3 /* the totals, the prototypes' sums, their sketches */

/*
 * Drains and closes everything, places the unread bursts, and returns the totals, which the ledger owns. Call
 * when no thread reads bursts any more. Afterwards nothing is booked. pieces: receives what the ranks add. With
 * it the spool stays as it was at the last checkpoint. If it is NULL, another checkpoint may follow, and then
 * another call of this function.
 */
struct totals *ledger_close(struct ledger *ledger, struct thread *threads,
		struct ledger_piece pieces[LEDGER_PIECES]);

/* Returns the present table, which is constant until the next ledger_publish. */
const struct prototype_table *ledger_table(const struct ledger *ledger);
/* Returns whether this process has read bursts of the phase in each group of events. */
bool ledger_has_read(struct ledger *ledger, uint32_t phase);
/* Returns the profile of this process: where its bursts were sampled. Call after ledger_close. */
const struct profile *ledger_profile(const struct ledger *ledger);
/* Returns where the time of this process lies in the run. Call after ledger_close. */
const struct timeline *ledger_timeline(const struct ledger *ledger);
/* Returns how counters evolve in this process' bursts; NULL: they are not sampled. Call after ledger_close. */
const struct fold *ledger_fold(const struct ledger *ledger);
/* Returns the sums. Call after ledger_close. */
const struct sums *ledger_sums(const struct ledger *ledger);
/* Returns the metrics that span the space of the table, and sets their number. */
const enum metric *ledger_metrics(const struct ledger *ledger, unsigned *count);
uint64_t ledger_burst_min_ns(const struct ledger *ledger);

#endif
