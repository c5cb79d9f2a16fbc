/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places the bursts that were not read. The length and the two call paths of every burst are known from
 * time stamps. The prototype is known only of the bursts that were read, each with a known probability. The
 * bursts of one span and one length are a stratum. Its unread bursts spread over prototypes as its read ones
 * do. Each read burst is weighted by the number of unread ones that it stands for (post-stratification;
 * Cochran, Sampling Techniques, 5A.9).
 *
 * This is plain arithmetic on the tables of threads that have stopped.
 */
#ifndef PHASEMUX_AGENT_SPOOL_UNREAD_H
#define PHASEMUX_AGENT_SPOOL_UNREAD_H

#include <stdint.h>

#include "agent/thread/site.h"
#include "cluster/prototypes.h"
#include "multiplex/estimate/sums.h"

/* Number used as a prototype's for bursts in no phase. */
#define UNREAD_UNCLASSIFIED PROTOTYPES_MAX

/* Number of bursts and their time. All members are doubles, so that ranks are merged by adding. */
struct tally {
	double bursts, seconds;
};

/* Error of the placed bursts of one phase: variances and covariance of their number and time. */
struct tally_error {
	double bursts2, bursts_seconds, seconds2;
};

/* All members are doubles, so that ranks are merged by adding. */
struct unread {
	struct tally prototype[PROTOTYPES_MAX];
	struct tally_error phase[PROTOTYPES_MAX]; /* [0] is phase 1 */
	struct tally stray[PROTOTYPES_MAX]; /* bursts that may have to be added, or taken away */
};

/* Bursts of one thread that no prototype gets, and the slices of those that one gets. */
struct unread_placed {
	struct tally shorts, unclassified;
	double slices; /* number of slices of the placed long bursts, minus the number of these bursts */
};

/*
 * Adds the unread bursts of a thread to `unread`. phase: phase of each of `prototypes` prototypes, 0: none.
 * burst_min: ticks; bursts below it that no prototype gets are short. ns_per_tick: of the thread's clock.
 * Returns the bursts that no prototype gets. The caller adds the read bursts that no prototype claimed to
 * `unclassified`. Therefore short ones among these are already subtracted there, and added to `shorts`.
 */
struct unread_placed unread_add(struct unread *unread, const struct site_table *sites,
		const uint32_t *phase, uint32_t prototypes, double burst_min, double ns_per_tick);

/*
 * Makes the read bursts of each phase stand for themselves and for those that were not read. Call with what is of one
 * process, if some processes read for others and have read more than these (agent/leads/leads.h). phase: as above.
 */
void unread_stand_for(const struct unread *unread, const uint32_t *phase, uint32_t prototypes,
		struct sums *sums);

#endif
