/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places the bursts that were not read. The length and the two call paths of every burst are known from
 * time stamps; which prototype it belongs to is known of those that were read, each with a known
 * probability. The bursts of one span and one length are a stratum: its unread bursts spread over
 * prototypes as its read ones do, each weighted by the number of unread ones that it stands for
 * (post-stratification; Cochran, Sampling Techniques, 5A.9).
 *
 * Plain arithmetic on tables of threads that have stopped.
 */
#ifndef PHASEMUX_AGENT_UNREAD_H
#define PHASEMUX_AGENT_UNREAD_H

#include <stdint.h>

#include "agent/site.h"
#include "cluster/prototypes.h"

/* As a prototype's number: the bursts are in no phase. */
#define UNREAD_UNCLASSIFIED PROTOTYPES_MAX

/* Bursts and their time; both of doubles, so that ranks are merged by adding. */
struct tally {
	double bursts, seconds;
};

/* By how much the placed bursts of one phase may be off: variances and covariance of their numbers. */
struct tally_error {
	double bursts2, bursts_seconds, seconds2;
};

/* All doubles: ranks are merged by adding. */
struct unread {
	struct tally prototype[PROTOTYPES_MAX];
	struct tally_error phase[PROTOTYPES_MAX]; /* of phase 1, 2, ... */
};

/* What the strata of one thread come to. */
struct unread_placed {
	struct tally shorts, unclassified;
	double slices; /* pieces that long bursts count as, beyond one for each burst */
};

/*
 * Adds the unread bursts of a thread to `unread`. phase: of each of `prototypes` prototypes, 0: none.
 * burst_min: ticks; bursts below it that nothing places are short. Returns what was not placed; of it,
 * the read bursts that no prototype claimed are in neither tally unless they are short: then they are
 * taken out of `unclassified` and counted as short. ns_per_tick: of the thread's clock.
 */
struct unread_placed unread_add(struct unread *unread, const struct site_table *sites,
		const uint32_t *phase, uint32_t prototypes, double burst_min, double ns_per_tick);

#endif
