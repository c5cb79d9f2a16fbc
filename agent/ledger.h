/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The books of the process: classifies the bursts that threads have read, and keeps what is kept of
 * them: sums per prototype and counter, the sample that the next training sees, and the bursts that
 * no prototype claims yet.
 *
 * ledger_drain may run on several threads at once (each for a thread of its own, see there);
 * everything else is for one thread at a time, and may run together with drains. The table of
 * prototypes is read under RCU and swapped by ledger_publish; the rest is behind one lock, which a
 * drain takes only where it must: once a quantum, for a burst that enters the sample, and for a
 * burst that no prototype claims.
 */
#ifndef PHASEMUX_AGENT_LEDGER_H
#define PHASEMUX_AGENT_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/burst_table.h"
#include "agent/counting.h"
#include "agent/fold.h"
#include "agent/profile.h"
#include "agent/sample.h"
#include "agent/spool.h"
#include "agent/thread.h"
#include "agent/totals.h"
#include "cluster/prototypes.h"

struct ledger;

/* What a rank gives to a round: additive, but for the sample, which merges. Plain data. */
struct ledger_part {
	double seconds_by_length[HISTOGRAM_BINS]; /* bins are of nanoseconds */
	struct sample sample;
};

/* What rank 0 answers. Plain data. */
struct ledger_answer {
	uint64_t burst_min_ns;
	double next_ns; /* when the next round is due, since the start; the exchange's */
	struct prototype_table table;
};

/*
 * NULL without memory. counting and rules must outlive the ledger. spool: where what is kept outlives the process, or NULL; it must outlive the ledger.
 */
struct ledger *ledger_new(const struct counting *counting, struct thread_rules *rules,
		const struct settings *settings, int rank, int ranks, struct spool *spool);
/* When no thread is drained any more; NULL is nothing. */
void ledger_free(struct ledger *ledger);
/* Notes the memory that is there now, the threads' and `others` too, for whoever recovers the run. */
void ledger_keep_bytes(struct ledger *ledger, const struct thread *threads, size_t others);

/* From now on every burst that is drained is added to the table; NULL: no longer. */
void ledger_record(struct ledger *ledger, struct burst_table *table);

/*
 * Gives a new thread what it needs to be drained. 0 or -ENOMEM. A thread for which the spool has no
 * room is admitted all the same: thread->spooled is then -errno.
 */
int ledger_admit(struct ledger *ledger, struct thread *thread);

/*
 * Empties the thread's ring. By one caller per thread at a time: returns at once where another is
 * at it.
 */
void ledger_drain(struct ledger *ledger, struct thread *thread);

/*
 * What the thread has booked, counted and not classified up to now outlives the process; nothing
 * happens while it is drained. Right after a drain: what is left in the ring is not in it. quiet:
 * on the thread itself, or when it reads bursts no more; otherwise its new call sites wait.
 */
void ledger_checkpoint(struct ledger *ledger, struct thread *thread, uint64_t now, bool quiet);

/* This rank's part of a round; threads: the list of all. */
void ledger_part(struct ledger *ledger, const struct thread *threads, struct ledger_part *part);

/*
 * Adds to a part what this process has come to know since the last time, and forgets it: for those
 * who gather in one place. Not together with ledger_part.
 */
void ledger_give(struct ledger *ledger, const struct thread *threads, struct ledger_part *part);

/* Merges two parts; `in` into `inout`. */
void ledger_part_merge(const void *in, void *inout);

/*
 * On rank 0: trains on the merged parts. Fills the answer; where the sample cannot be clustered
 * (too little of it yet), the answer holds the table as it was.
 */
void ledger_train(struct ledger *ledger, const struct ledger_part *all,
		struct ledger_answer *answer);

/* What all trainings have taken of a processor, in ns; for whoever may train. */
double ledger_training_ns(const struct ledger *ledger);

/* Takes the answer over, and classifies with it what was unclassified. */
void ledger_publish(struct ledger *ledger, const struct ledger_answer *answer);

/* Doubles of the ledger that are to be added over the ranks, in place. */
struct ledger_piece {
	double *at;
	size_t length;
};

#define LEDGER_PIECES 3 /* the totals, the prototypes' sums, their sketches */

/*
 * At the end, when no thread reads bursts any more: drains and closes everything, attributes what
 * was not read, and returns the totals; pieces: what the ranks add. Nothing is booked any more.
 * With pieces, what outlives the process stays what it was at the last checkpoint; NULL: there may be
 * another one, and then this is called once more.
 */
struct totals *ledger_close(struct ledger *ledger, struct thread *threads,
		struct ledger_piece pieces[LEDGER_PIECES]);

/* The table now; constant until the next ledger_publish. */
const struct prototype_table *ledger_table(const struct ledger *ledger);
/* Where this process' bursts were sampled; after ledger_close. */
const struct profile *ledger_profile(const struct ledger *ledger);
/* And how they evolve; NULL: bursts are not sampled. */
const struct fold *ledger_fold(const struct ledger *ledger);
/* The sums; after ledger_close. */
const struct sums *ledger_sums(const struct ledger *ledger);
uint64_t ledger_burst_min_ns(const struct ledger *ledger);

#endif
