/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread knows of its region. region.c and region_file.c write it. Zeros without a file are a region that waits. */
#ifndef PHASEMUX_AGENT_REGION_REGION_STATE_H
#define PHASEMUX_AGENT_REGION_REGION_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/region/region_format.h"
#include "agent/region/steady.h"
#include "agent/thread/site.h"

#define REGION_BUFFER 512 /* calls */
#define REGION_READS  128 /* bursts whose counters were read */

struct counting;

enum region_state {
	REGION_WAITING, /* for the order */
	REGION_ARMED,   /* for the first iteration */
	REGION_RECORDING,
	REGION_DONE
};

/* By what iterations are counted. */
struct region_anchor {
	uint64_t shape; /* of the loop; 0: the thread repeats none */
	uint32_t site;
	bool rows; /* a row of calls from the site counts once */
};

struct region {
	struct region_facts facts;
	const char *folder;
	const struct counting *counting;
	enum region_state state;
	int fd, error; /* -1: there is no file; -errno of the first write that failed */
	struct region_anchor
			anchor; /* of the loop that the thread repeats, then of the one that is recorded */
	uint32_t last;          /* site of the last call */
	uint64_t calls;
	/* at the last vote: time, calls, and iterations of the anchor's loop */
	uint64_t voted_at, voted_calls, voted_iterations;
	struct region_order order;
	uint64_t first, recorded; /* iterations before the region, and calls in it */
	bool late, cut;
	uint64_t ticks[PROTOTYPES_MAX + 1]; /* of bursts, by 1 + prototype */
	uint64_t before[PROTOTYPES_MAX +
			1]; /* the same when the region began, then in the region */
	uint64_t counted[PROTOTYPES_MAX + 1];     /* the same at the last vote */
	uint32_t phase[PROTOTYPES_MAX];           /* of the last table */
	uint32_t all[SITES_MAX], rows[SITES_MAX]; /* calls of a site, and rows of calls of it */
	uint64_t defined[SITES_MAX / 64];         /* sites that are in the file */
	unsigned used, reads;                     /* of the buffers */
	struct region_counts read[REGION_READS];
	struct region_call buffer[REGION_BUFFER];
};

#endif
