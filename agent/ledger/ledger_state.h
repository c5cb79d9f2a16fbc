/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state of the ledger, which its files share: book.c, slices_drain.c, checkpoint.c, training.c and
 * ledger.c. No other file includes it.
 */
#ifndef PHASEMUX_AGENT_LEDGER_LEDGER_STATE_H
#define PHASEMUX_AGENT_LEDGER_LEDGER_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "agent/ledger/burst_csv.h"
#include "agent/ledger/reservoir.h"
#include "agent/setup/counting.h"
#include "agent/spool/fold.h"
#include "agent/spool/profile.h"
#include "agent/spool/spool.h"
#include "agent/spool/totals.h"
#include "agent/thread/pending.h"
#include "agent/thread/thread.h"
#include "cluster/prototypes.h"
#include "multiplex/scheme/preference.h"

#define LEDGER_TASK_THREADS 1024 /* thread numbers for each rank, in the number of a task */

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
	uint64_t start; /* clock when the ledger was made */
	unsigned metrics;
	enum metric metric[SETTINGS_METRICS_MAX];
	bool by_place; /* phases are split by place, if places differ in their metrics */
	bool burst_min_given;
	double budget;  /* INFINITY: every burst is read */
	bool has_leads; /* some ranks may read for others (agent/leads/leads.h) */

	/* protected by the lock */
	pthread_mutex_t lock;
	struct prototype_table *spare; /* becomes the table at the next publish */
	struct sums *sums;
	struct reservoir sample;
	double given[HISTOGRAM_BINS]; /* seconds by length that ledger_give has added to a part */
	struct pending_pool pending;
	struct profile *profile;       /* in the spool, or own_profile */
	struct profile *own_profile;   /* NULL: there is a spool */
	struct timeline timeline;      /* of all threads; its bins are in the spool, or own_bins */
	struct timeline_bin *own_bins; /* NULL: there is a spool */
	struct fold *fold;             /* NULL: bursts are not sampled */
	struct burst_csv *bursts;      /* NULL: not recorded; set before any thread is admitted */
	float preferences[2][PROTOTYPES_MAX]; /* the one that drains read, and the next one */
	struct preference_scratch scratch;    /* memory of preference_learn */
	struct adaptive adaptive[2];          /* the one that threads read, and the next one */
	uint64_t burst_min_ns; /* only rounds write it; they may read it without the lock */

	double training_ns; /* CPU time; used only by the caller that takes steps of the exchange */

	struct spool *spool; /* NULL: nothing outlives the process */

	/* drains do nothing any more; written before a thread's last drain, whose `busy` orders it */
	_Atomic bool closed;
	struct totals totals; /* after ledger_close */
	bool kept; /* the spool is final and is not written any more; protected by the lock */
};

#endif
