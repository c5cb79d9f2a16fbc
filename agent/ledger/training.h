/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ledger's part in the rounds in which ranks learn together: what it gives to a round, the training on rank
 * 0, and the new table of prototypes.
 */
#ifndef PHASEMUX_AGENT_LEDGER_TRAINING_H
#define PHASEMUX_AGENT_LEDGER_TRAINING_H

#include <stdint.h>

#include "agent/ledger/reservoir.h"
#include "agent/thread/histogram.h"
#include "agent/thread/thread.h"
#include "cluster/prototypes.h"

struct ledger;

/* Data that a rank gives to a round. Parts are added, except the sample, which is merged. Plain data. */
struct ledger_part {
	double seconds_by_length[HISTOGRAM_BINS]; /* bins are of nanoseconds */
	struct reservoir sample;
};

/* Answer of rank 0 to a round. Plain data. */
struct ledger_answer {
	uint64_t burst_min_ns;
	double next_ns; /* when the next round is due, since the start; the exchange fills it in */
	struct prototype_table table;
};

/* Fills this rank's part of a round. threads: the list of all threads. */
void ledger_part(struct ledger *ledger, const struct thread *threads, struct ledger_part *part);

/*
 * Adds to a part what this process has learnt since the last call, and forgets it. For processes that gather
 * in one shared part. A process uses either this or ledger_part.
 */
void ledger_give(struct ledger *ledger, const struct thread *threads, struct ledger_part *part);

/* Merges the part `in` into `inout`. */
void ledger_part_merge(const void *in, void *inout);

/*
 * Trains on the merged parts, and fills the answer. Call on rank 0. If the sample cannot be clustered, because
 * it is still too small, the answer holds the table as it was.
 */
void ledger_train(struct ledger *ledger, const struct ledger_part *all,
		struct ledger_answer *answer);

/* Returns the CPU time of all trainings in ns. Call where ledger_train may be called. */
double ledger_training_ns(const struct ledger *ledger);

/* Replaces the table by the answer's. The next drain of each thread classifies its pending bursts with it. */
void ledger_publish(struct ledger *ledger, const struct ledger_answer *answer);

#endif
