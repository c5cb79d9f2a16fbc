/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arguments of a thread's calls as plain data: what the ranks merge, and what a process leaves in its spool. A record
 * for each stream, with the values as stream_write writes them. The records of a site follow each other.
 */
#ifndef PHASEMUX_AGENT_SPOOL_ARGUMENTS_IMAGE_H
#define PHASEMUX_AGENT_SPOOL_ARGUMENTS_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/thread/call_arguments.h"
#include "cluster/streams/stream_bytes.h"

struct arguments_record {
	uint32_t site, argument; /* enum argument */
	uint64_t count, exact, marks;
	int64_t least, most;
	double sum;
	uint32_t bytes, unused; /* length of the values, which follow */
};

/* a stream may have the items of a loop twice: those of the round under way are written behind it */
#define ARGUMENTS_IMAGE_MAX                                                                        \
	(sizeof(uint64_t) + STREAMS_MAX * sizeof(struct arguments_record) +                        \
			2 * STREAM_ITEMS * (size_t)STREAM_ITEM_BYTES)

/* Returns a size that the image does not exceed. */
size_t arguments_image_bound(const struct call_arguments *arguments);

/* Settles the streams and writes an image. Returns its length. Call on the thread that adds calls, or when none are added. */
size_t arguments_image_write(struct call_arguments *arguments, const struct site_table *sites,
		uint8_t *bytes);

/* Returns the number of calls of sites whose streams found no room. */
uint64_t arguments_image_left_out(const uint8_t *bytes);

/*
 * Reads the next record. *at: its place, 0 at first, which is moved behind it. Returns its values, or NULL at the end, or
 * if what follows is not an image. An image of the own process is one. sites: highest number of a site.
 */
const uint8_t *arguments_image_next(const uint8_t *bytes, size_t length, size_t *at, uint32_t sites,
		struct arguments_record *record);

#endif
