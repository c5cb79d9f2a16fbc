/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A bounded random sample of bursts that can be merged: each burst draws a key, longer bursts
 * likelier a small one, and the smallest keys stay (weighted sampling without replacement:
 * Efraimidis and Spirakis 2006). Merging two samples keeps the smallest of both, so a reduction
 * over ranks has a payload that does not depend on how many they are. Plain data.
 *
 * Each burst's chance depends on what it executes, and not on who does. So the sample holds the same
 * executions of many tasks, and tells parts of one phase from phases (cluster/refine.h).
 *
 * Bursts are weighted by their duration: what holds 1% of the computing time gets 1% of the sample,
 * whether it is one long burst in a hundred or a million short ones.
 */
#ifndef PHASEMUX_AGENT_SAMPLE_H
#define PHASEMUX_AGENT_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/settings.h"

#define SAMPLE_MAX 2000

struct sampled_burst {
	double key; /* exponential with rate `seconds`; the smallest stay */
	/*
	 * A number at random, but the same for ranks that are to be sampled alike, where they do the
	 * same.
	 */
	uint64_t execution;
	float seconds;
	uint32_t task;  /* a thread of a rank */
	uint32_t place; /* what code it is; 0: not known */
	float regular;  /* how regularly its thread runs that; < 0: not known */
	float metric[SETTINGS_METRICS_MAX];
};

/* A heap with the largest key at its root. */
struct sample {
	uint32_t count, unused;
	struct sampled_burst burst[SAMPLE_MAX];
};

/*
 * A key for a burst of that length, at random but for the execution: tasks that execute the same get
 * the same luck, so that whoever else executed a burst of the sample is in it, too.
 */
double sample_key(uint64_t execution, double seconds);

/* Whether a burst with this key would be taken. */
static inline bool sample_takes(const struct sample *sample, double key)
{
	return sample->count < SAMPLE_MAX || key < sample->burst[0].key;
}

void sample_offer(struct sample *sample, const struct sampled_burst *burst);

/* Adds all of `from` to `into`. */
void sample_merge(struct sample *into, const struct sample *from);

#endif
