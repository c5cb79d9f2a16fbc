/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declarations that the files of the ledger share: ledger.c, ledger_slices.c (bursts and their samples) and
 * ledger_keep.c (what outlives the process). No other file includes it.
 */
#ifndef PHASEMUX_AGENT_LEDGER_INSIDE_H
#define PHASEMUX_AGENT_LEDGER_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/ledger.h"
#include "multiplex/preference.h"

struct ledger {
	/* read under RCU by drains; written by ledger_publish */
	struct prototype_table *table;
	float *preference; /* of prototypes; read with the table */
	/* smallest key that the full sample rejects; read without the lock, as a first check */
	_Atomic double sample_limit;

	/* constant */
	const struct counting *counting;
	struct thread_rules *rules;
	uint32_t rank, ranks;
	unsigned metrics;
	enum metric metric[SETTINGS_METRICS_MAX];
	bool by_place; /* phases are split by place, if places differ in their metrics */
	bool burst_min_given;
	double budget; /* INFINITY: every burst is read */

	/* protected by the lock */
	pthread_mutex_t lock;
	struct prototype_table *spare; /* becomes the table at the next publish */
	struct sums *sums;
	struct sample sample;
	double given[HISTOGRAM_BINS]; /* seconds by length that ledger_give has added to a part */
	struct pending_pool pending;
	struct profile *profile;     /* in the spool, or own_profile */
	struct profile *own_profile; /* NULL: there is a spool */
	struct fold *fold;           /* NULL: bursts are not sampled */
	struct burst_table *bursts;  /* NULL: not recorded; set before any thread is admitted */
	float preferences[2][PROTOTYPES_MAX]; /* the one that drains read, and the next one */
	struct preference_scratch scratch;    /* memory of preference_learn */
	struct adaptive adaptive[2];          /* the one that threads read, and the next one */
	uint64_t burst_min_ns; /* only rounds write it; they may read it without the lock */

	double training_ns; /* CPU time; used only by the caller that takes steps of the exchange */

	struct spool *spool; /* NULL: nothing outlives the process */

	/* drains do nothing any more; written before a thread's last drain, whose `draining` orders it */
	_Atomic bool closed;
	struct totals totals; /* after ledger_close */
	bool kept; /* the spool is final and is not written any more; protected by the lock */
};

/* ---- ledger.c; call in a drain of the thread ---- */

/* Returns x mixed to a random number. */
uint64_t ledger_mixed(uint64_t x);

/* Adds the thread's open quantum to the sums, and removes the spool's copy. Caller holds the ledger lock. */
void ledger_fold_quantum(struct ledger *ledger, struct thread *thread);

/* Adds `samples` samples at `address` in bursts of a prototype to the profile. Takes the ledger lock. */
void ledger_locate(struct ledger *ledger, unsigned prototype, uintptr_t address, unsigned samples);

/* Classifies and books a burst. Returns its prototype, or -1 if it is pending or was given up. */
int ledger_drain_burst(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst);

/* ---- ledger_slices.c; call in a drain of the thread ---- */

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

/* ---- ledger_keep.c ---- */

/* Saves the phases of a new table to the spool. Call before a burst can go to a new prototype. */
void ledger_save_table(struct ledger *ledger, const struct prototype_table *table);

#endif
