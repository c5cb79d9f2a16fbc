/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A stream as bytes, which are equal for equal sequences that were folded as they came. An item is
 * three numbers of 7 bits a byte (cluster/loops/counts.h): how often it comes in a row, the length of
 * its body (0: it is a number), and the number, of which the lowest bit is the sign. The items of a
 * body follow the item of their loop, which has no third number.
 */
#ifndef PHASEMUX_CLUSTER_STREAMS_STREAM_BYTES_H
#define PHASEMUX_CLUSTER_STREAMS_STREAM_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cluster/streams/stream.h"

#define STREAM_ITEM_BYTES 17 /* of an item at most: 32, 7 and 64 bits */
/* of a stream at most, with a round under way */
#define STREAM_BYTES_MAX ((STREAM_ITEMS_MAX + STREAM_PERIOD_MAX) * STREAM_ITEM_BYTES)

/* Writes a stream, which is settled, to at most STREAM_BYTES_MAX bytes. Returns their number. */
size_t stream_write(const struct streams *streams, const struct stream *stream, uint8_t *bytes);

struct stream_part {
	uint32_t count;  /* repetitions in a row */
	unsigned length; /* of a loop: number of the items of its body, which follow; 0: a number */
	int64_t value;   /* of a number */
};

/* Reads an item that stream_write has written. Returns the number of its bytes. */
unsigned stream_read(const uint8_t *bytes, struct stream_part *part);

/* Returns whether bytes, which are untrusted, are whole items that stream_read can read. */
bool stream_is_valid(const uint8_t *bytes, size_t length);

#endif
