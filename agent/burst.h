/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A burst that was read, or a slice of a long one, on its way from a thread to the ledger; or one that was not
 * read, but may have samples: those count for its phase.
 */
#ifndef PHASEMUX_AGENT_BURST_H
#define PHASEMUX_AGENT_BURST_H

#include <stdbool.h>
#include <stdint.h>

#include "sampling/group.h"

/* As the span of a slice: its burst has not ended. */
#define BURST_NO_SPAN UINT32_MAX

struct burst {
	uint64_t begin; /* ticks of the clock */
	uint64_t ticks;
	uint64_t quantum; /* of the thread, counted from 0 */
	uint32_t span;
	float regular; /* span_regular of its span at its end */
	uint16_t group;
	uint16_t from; /* site */
	uint16_t length; /* number in the thread's table; of a burst, not of a slice of one that goes on */
	uint32_t execution; /* how many bursts have begun at its site, up to this one; not of a slice */
	bool unread;        /* of what follows, nothing is known */
	bool slice;
	bool is_long;     /* may be cut */
	bool mixed;       /* values are not known: only what is cut of it is counted */
	uint16_t samples; /* that found it there */
	uintptr_t address;
	float group_weight; /* scheme_weight, when its group was given the quantum */
	double weight;      /* 1 / the probability with which it was read */
	uint64_t values[GROUP_EVENTS_MAX];
	uint64_t first[GROUP_EVENTS_MAX]; /* counters at its begin, where bursts are sampled */
};

#endif
