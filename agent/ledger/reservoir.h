/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounded random sample of bursts that can be merged. Each burst draws a key, and the smallest keys stay.
 * Longer bursts are more likely to draw a small key (weighted sampling without replacement: Efraimidis and
 * Spirakis 2006). Merging two samples keeps the smallest keys of both. Therefore the payload of a reduction
 * over ranks does not depend on their number. Plain data.
 *
 * The key of a burst depends on what it executes, and not on which task does so. Therefore the sample has the
 * same executions of many tasks, and can tell parts of one phase from phases (cluster/sequence/refine.h).
 *
 * Bursts are weighted by their duration. Bursts with 1% of the computing time get 1% of the sample, whether it
 * is one long burst in a hundred or a million short ones.
 */
#ifndef PHASEMUX_AGENT_LEDGER_RESERVOIR_H
#define PHASEMUX_AGENT_LEDGER_RESERVOIR_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/setup/settings.h"

#define RESERVOIR_MAX 2000

struct sampled_burst {
	double key; /* exponential with rate `seconds`; the smallest stay */
	/* a random number that is equal on ranks which execute the same and are to be sampled alike */
	uint64_t execution;
	float seconds;
	uint32_t task;  /* a thread of a rank */
	uint32_t place; /* number of the code; 0: not known */
	float regular;  /* how regularly its thread runs the code; < 0: not known */
	float metric[SETTINGS_METRICS_MAX];
};

/* A heap with the largest key at its root. */
struct reservoir {
	uint32_t count, unused;
	struct sampled_burst burst[RESERVOIR_MAX];
};

/*
 * Returns the key of a burst that took `seconds`, made from the random number `execution`. Tasks that execute
 * the same have the same number, so that the sample has their bursts, too.
 */
double reservoir_key(uint64_t execution, double seconds);

/* Returns whether a burst with this key would be taken. */
static inline bool reservoir_takes(const struct reservoir *sample, double key)
{
	return sample->count < RESERVOIR_MAX || key < sample->burst[0].key;
}

/* Adds a copy of the burst if its key is small enough. */
void reservoir_offer(struct reservoir *sample, const struct sampled_burst *burst);

/* Adds all of `from` to `into`. */
void reservoir_merge(struct reservoir *into, const struct reservoir *from);

#endif
