/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the calls of a loop still have the arguments that they had when its leads were named. A rank for which others read
 * checks this in some rounds, because equal calls with other arguments may do something else. Chameleon (Bahmani and Mueller
 * 2018) does not check it.
 *
 * A check looks at the calls of about two rounds. The first checks learn the different arguments of each call. A later one
 * differs if a call has arguments that are not among these. So arguments that alternate, and inner loops with other counts,
 * do not differ. Between two checks, a call costs a decrement.
 *
 * The struct is plain data; zeros are a loop whose leads were named just now.
 */
#ifndef PHASEMUX_AGENT_LEADS_CHECKS_H
#define PHASEMUX_AGENT_LEADS_CHECKS_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/thread/call_arguments.h"

#define CHECKS_LEARNED   8  /* checks that learn */
#define CHECKS_REST      32 /* calls between two checks, as a multiple of those of a check */
#define CHECKS_CALLS_MIN 16 /* calls of a check */
#define CHECKS_KNOWN_MAX                                                                           \
	192 /* different arguments of all calls of a loop; with more, nothing is checked */
#define CHECKS_SLOTS 256

struct checks {
	uint32_t till; /* calls before the next check; 0 or 1: it starts after the next call, or has started */
	uint32_t left;               /* calls of the check under way */
	uint32_t learned;            /* checks that have learnt */
	uint32_t known;              /* different arguments */
	bool differs;                /* the check under way has found others */
	uint64_t slot[CHECKS_SLOTS]; /* signatures; 0: there is none */
};

/* Starts a check of a loop. calls: of its text, here and below. */
void checks_begin(struct checks *checks, uint32_t calls);

/* Looks at the arguments of a call of a site. Returns false if that was the last call of the check. */
bool checks_add(struct checks *checks, uint32_t site, const struct call_arguments *arguments);

/*
 * Ends a check of which all calls were looked at. Returns false if it has learnt, or if there are too many different
 * arguments. Otherwise `differs` says what it has found.
 */
bool checks_end(struct checks *checks, uint32_t calls);

/* Ends a check before its last call. It says nothing. */
void checks_stop(struct checks *checks);

#endif
