/* SPDX-License-Identifier: BSD-3-Clause */
/* The values of an argument of a rank, in order. To leave many of them out takes as long as the stream has items. */
#ifndef PHASEMUX_TOOLS_REPLAY_PLAN_VALUES_H
#define PHASEMUX_TOOLS_REPLAY_PLAN_VALUES_H

#include "tools/replay/plan/plan.h"

#define VALUES_ALL UINT64_MAX

/* A loop of a stream, whose values are being taken. */
struct value_level {
	const struct plan_stream *stream;
	size_t next;
	uint64_t rounds;     /* that are left after this one */
	uint64_t start, end; /* numbers of its first value, and of the first one behind it */
};

struct values {
	const struct plan_values *recorded; /* NULL: there are none */
	uint64_t at;                        /* number of the next value */
	int64_t value;                      /* that comes `left` times yet ... */
	uint64_t left, start;               /* ... and first came as number `start` */
	unsigned depth;
	struct value_level *level; /* as many as the stream is deep */
};

/* Finds the values of a rank; `values` is all 0 before. Returns false without memory. Call values_fini() also then. */
bool values_find(struct values *values, const struct plan_argument *argument, long rank);

/* Returns the next value, or PLAN_UNKNOWN if there is none, or it is not known. */
int64_t values_next(struct values *values);

/* Leaves out a number of values. */
void values_skip(struct values *values, uint64_t number);

/*
 * Returns for how many values from the next one on it is certain that each equals the one `period` values before it, as do
 * those since number `from`; VALUES_ALL: all. period: at most the number of values since `from`.
 */
uint64_t values_repeat(const struct values *values, uint64_t from, uint64_t period);

void values_fini(struct values *values);

#endif
