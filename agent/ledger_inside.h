/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the ledger share: ledger.c, ledger_slices.c (bursts and their samples) and
 * ledger_keep.c (what outlives the process). For no other file.
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
	/* the smallest key that the full sample turns away; read without the lock, as a first guess */
	_Atomic double sample_limit;

	/* constant */
	const struct counting *counting;
	struct thread_rules *rules;
	uint32_t rank, ranks;
	unsigned metrics;
	enum metric metric[SETTINGS_METRICS_MAX];
	bool by_place; /* phases are split by place, if that tells them apart */
	bool burst_min_given;
	double budget; /* INFINITY: every burst is read */

	/* behind the lock */
	pthread_mutex_t lock;
	struct prototype_table *spare; /* becomes the table at the next publish */
	struct sums *sums;
	struct sample sample;
	double given[HISTOGRAM_BINS]; /* by ledger_give, as in a part */
	struct pending_pool pending;
	struct profile *profile;     /* in the spool, where there is one */
	struct profile *own_profile; /* where there is none */
	struct fold *fold;           /* NULL: bursts are not sampled */
	struct burst_table *bursts;  /* NULL unless asked for; set before any thread is there */
	float preferences[2][PROTOTYPES_MAX]; /* the one that drains read, and the next */
	struct preference_scratch scratch;    /* behind the lock, as what it is made from */
	struct adaptive adaptive[2];          /* the one that threads read, and the next */
	uint64_t burst_min_ns; /* read without the lock where it is written: in a round */

	double training_ns; /* of whoever may take steps of the exchange */

	struct spool *spool; /* NULL: what is kept dies with the process */

	/* drains have come to their end; written before a thread's last one, in whose order it is read */
	_Atomic bool closed;
	struct totals totals; /* after ledger_close */
	bool kept;            /* what outlives the process is what it will be; behind the lock */
};

/* ---- ledger.c; of the drain of that thread ---- */

/* A random number from any. */
uint64_t ledger_mixed(uint64_t x);

/* Behind the lock. What the spool has of the thread's open quantum moves to the sums with it. */
void ledger_fold_quantum(struct ledger *ledger, struct thread *thread);

/* So many samples of a prototype's bursts were there. */
void ledger_locate(struct ledger *ledger, unsigned prototype, uintptr_t address, unsigned samples);

/* The prototype that claims the burst, or -1: it is pending, or was given up. */
int ledger_drain_burst(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst);

/* ---- ledger_slices.c; of the drain of that thread ---- */

/* A burst that is too short to be cut, and where in it the program was sampled, if it was. */
void ledger_drain_whole(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst);

/* A burst that was not read: where in the program it was sampled, if it was. */
void ledger_drain_unread(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst);

/* A long burst: in slices, where there are samples of it before head. */
void ledger_drain_long(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table, const struct burst *burst, uint64_t head);

/* The burst under way, as far as it has samples. Called when all that came before it is drained. */
void ledger_drain_under_way(struct ledger *ledger, struct thread *thread,
		const struct prototype_table *table);

/* ---- ledger_keep.c ---- */

/* Before the first burst can go to a prototype that is new. */
void ledger_save_table(struct ledger *ledger, const struct prototype_table *table);

#endif
