/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A burst that was read, or a slice of a long one, on its way from a thread to the ledger. It may also be a
 * burst that was not read, but may have samples, which count for its phase.
 */
#ifndef PHASEMUX_AGENT_THREAD_BURST_H
#define PHASEMUX_AGENT_THREAD_BURST_H

#include <stdbool.h>
#include <stdint.h>

#include "sampling/group.h"

/* Span of a slice whose burst has not ended. */
#define BURST_NO_SPAN UINT32_MAX

struct burst {
	uint64_t begin; /* ticks of the clock */
	uint64_t ticks;
	uint64_t quantum; /* number of the thread's quantum, from 0 */
	uint32_t span;
	float regular; /* span_regular of the span at the end of the burst */
	uint16_t group;
	uint16_t from;   /* site */
	uint16_t length; /* number in the thread's table; invalid for slices of a burst under way */
	uint32_t execution; /* number of bursts that its site has started so far; not of a slice */
	bool unread;        /* the fields below are not known */
	bool slice;
	bool is_long;     /* it may be cut into slices */
	bool mixed;       /* its values are not known: only its slices are counted */
	uint16_t samples; /* number of samples at `address` */
	uint16_t stack;   /* number of their callers (agent/stacks) */
	uintptr_t address;
	float group_weight; /* scheme_weight at the time when the group was chosen */
	double weight;      /* 1 / probability with which it was read */
	uint64_t values[GROUP_EVENTS_MAX];
	uint64_t first[GROUP_EVENTS_MAX]; /* counters at its start, if bursts are sampled */
};

#endif
