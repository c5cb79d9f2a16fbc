/*
 * A bounded random sample of bursts that can be merged: each burst draws a key, longer bursts
 * likelier a small one, and the smallest keys stay (weighted sampling without replacement:
 * Efraimidis and Spirakis 2006). Merging two samples keeps the smallest of both, so a reduction
 * over ranks has a payload that does not depend on how many they are. Plain data.
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
	uint64_t begin_ns; /* since the start of the run */
	float seconds;
	uint32_t rank;
	float metric[SETTINGS_METRICS_MAX];
};

/* A heap with the largest key at its root. */
struct sample {
	uint32_t count, unused;
	struct sampled_burst burst[SAMPLE_MAX];
};

/* A key for a burst of that length; uniform is a random number in (0, 1]. */
double sample_key(double uniform, double seconds);

/* Whether a burst with this key would be taken. */
static inline bool sample_takes(const struct sample *sample, double key)
{
	return sample->count < SAMPLE_MAX || key < sample->burst[0].key;
}

void sample_offer(struct sample *sample, const struct sampled_burst *burst);

/* Adds all of `from` to `into`. */
void sample_merge(struct sample *into, const struct sample *from);

#endif
