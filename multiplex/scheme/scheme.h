/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Decides which process counts which group when (thesis 7.2.1): time, space, time-space; random (10.5.5);
 * adaptive, which gives more quanta to the groups that are least known; and none, which always counts one
 * group. The group is a pure function of the quantum's number (adaptive: and of what the process has learnt).
 * Therefore every process knows its groups without communication.
 */
#ifndef PHASEMUX_MULTIPLEX_SCHEME_SCHEME_H
#define PHASEMUX_MULTIPLEX_SCHEME_SCHEME_H

#include <stdint.h>

enum scheme_kind {
	SCHEME_TIME_SPACE,
	SCHEME_TIME,
	SCHEME_SPACE,
	SCHEME_RANDOM,
	SCHEME_ADAPTIVE,
	SCHEME_NONE,
	SCHEME_KINDS,
};

struct adaptive;

struct scheme {
	enum scheme_kind kind;
	unsigned groups; /* 1 .. PLAN_GROUPS_MAX */
	unsigned fixed;  /* the group of SCHEME_NONE */
	uint64_t seed;   /* of SCHEME_RANDOM; equal on all processes of a job */
	const struct adaptive
			*adaptive; /* of SCHEME_ADAPTIVE, which is random until this has learnt */
};

/* Returns the name: "time-space", ... */
const char *scheme_name(enum scheme_kind kind);

/* Returns the enum scheme_kind of this name, or -1 for an unknown name. */
int scheme_by_name(const char *name);

/* Returns the group that counter set `place` (rank, or a number per thread) counts in quantum `quantum`. */
unsigned scheme_group(const struct scheme *scheme, uint64_t place, uint64_t quantum);

/*
 * Returns the weight of a quantum in the group's sums: 1 / (groups x the probability with which the group gets
 * the quantum). It is 1 if all groups have equal shares.
 */
double scheme_weight(const struct scheme *scheme, unsigned group);

#endif
