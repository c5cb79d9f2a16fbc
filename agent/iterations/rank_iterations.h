/* SPDX-License-Identifier: BSD-3-Clause */
/* The iterations of a rank that were measured, by prototype (cluster/prototypes.h). */
#ifndef PHASEMUX_AGENT_ITERATIONS_RANK_ITERATIONS_H
#define PHASEMUX_AGENT_ITERATIONS_RANK_ITERATIONS_H

#include <stddef.h>
#include <stdint.h>

#include "agent/iterations/iteration_sample.h"
#include "agent/thread/site.h"

/* Bursts of one iteration in one prototype. */
struct prototype_part {
	uint32_t prototype;
	float seconds;
};

struct rank_iteration {
	double seconds; /* of the whole iteration */
	uint32_t first, parts;
};

/* Plain data in one block of memory, to be freed with free. */
struct rank_iterations {
	size_t bytes; /* of the block */
	uint32_t count, parts;
	struct rank_iteration iteration[ITERATION_SAMPLE_MAX];
	struct prototype_part part[];
};

/*
 * Returns the iterations of a sample, with the prototypes that bursts of their spans and lengths have in the table of sites.
 * Bursts of one length are in the prototype in which most of their time is, or, if they were cut into slices, in several ones
 * by their shares. A length of which no burst was read is taken for the nearest one of its span. What no prototype claims is
 * left out. Call when all bursts are classified. sample: NULL or empty: there are none. Returns NULL if there are none, or
 * without memory.
 */
struct rank_iterations *rank_iterations_new(const struct iteration_sample *sample,
		const struct site_table *sites, double ns_per_tick);

/* Returns a copy, or NULL without memory. from: NULL: returns NULL. */
struct rank_iterations *rank_iterations_copy(const struct rank_iterations *from);

#endif
