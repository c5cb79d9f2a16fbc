/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sample of the iterations of a thread: how long each of them took, and how long its bursts of each span and length. These
 * say at the end in which phases the bursts are (agent/thread/site.h), because phases are learnt while the program runs.
 *
 * The sample is stratified: of each `stride` iterations in a row, one at random is measured. When there is no room, one of
 * each two neighbours is dropped at random, and the stride doubles. So the sample covers the whole time evenly, and
 * iterations that are long in turn are drawn as often as the others. Few are measured in a run of any length: some hundred
 * for each tenfold number of iterations.
 *
 * The struct is plain data, which is kept in the spool.
 */
#ifndef PHASEMUX_AGENT_ITERATIONS_ITERATION_SAMPLE_H
#define PHASEMUX_AGENT_ITERATIONS_ITERATION_SAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/iterations/anchor.h"

#define ITERATION_SAMPLE_MAX 128
#define ITERATION_PARTS_MAX  2048 /* of all iterations together */
#define ITERATION_PARTS_EACH 256  /* of one iteration */

/* The bursts of one iteration that have one number in the table of lengths. */
struct iteration_part {
	uint32_t length;
	float ticks; /* of all of them together */
};

struct sampled_iteration {
	uint64_t ticks; /* of its bursts and calls, from one anchor to the next */
	uint32_t first, parts;
};

/* Zeros are an empty sample of no loop. */
struct iteration_sample {
	uint64_t random;      /* state */
	struct anchor anchor; /* of the loop */
	uint32_t stride;      /* 0: no loop is known */
	uint32_t rest;        /* iterations of the present stride behind the one that was drawn */
	uint32_t count, parts;
	/* in the order of time */
	struct sampled_iteration iteration[ITERATION_SAMPLE_MAX];
	struct iteration_part part[ITERATION_PARTS_MAX];
};

/* Starts a sample of the loop with this anchor. What was measured of another one is dropped. */
void iteration_sample_start(struct iteration_sample *sample, const struct anchor *anchor);

/* Returns how many iterations pass before the next one that is to be measured. */
uint32_t iteration_sample_draw(struct iteration_sample *sample);

/* Adds an iteration, whose `parts` parts are at most ITERATION_PARTS_EACH. */
void iteration_sample_add(struct iteration_sample *sample, uint64_t ticks,
		const struct iteration_part *part, uint32_t parts);

/* Returns the bytes at the start of the struct that are in use. */
static inline size_t iteration_sample_bytes(const struct iteration_sample *sample)
{
	return offsetof(struct iteration_sample, part) + sample->parts * sizeof(sample->part[0]);
}

/* Returns whether what was read from a file can be a sample. */
bool iteration_sample_is_valid(const struct iteration_sample *sample);

/* Returns whether the sample is of the iterations of a finished text (cluster/loops/iteration.h). */
bool iteration_sample_is_of(const struct iteration_sample *sample, const struct loops *loops);

#endif
