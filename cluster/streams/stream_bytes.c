/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/streams/stream_bytes.h"

#include "cluster/loops/counts.h"

static size_t write_list(const struct streams *streams, uint16_t item, uint8_t *bytes)
{
	size_t length = 0;

	for (; item; item = streams->item[item].next) {
		const struct stream_item *one = &streams->item[item];

		length += counts_write_number(bytes + length, one->count);
		length += counts_write_number(bytes + length, one->length);
		if (one->first)
			length += write_list(streams, one->first, bytes + length);
		else
			length += counts_write_number(bytes + length,
					(uint64_t)one->value << 1 ^ (uint64_t)(one->value >> 63));
	}
	return length;
}

size_t stream_write(const struct streams *streams, const struct stream *stream, uint8_t *bytes)
{
	return write_list(streams, stream->first, bytes);
}

unsigned stream_read(const uint8_t *bytes, struct stream_part *part)
{
	uint64_t count, body, value = 0;
	unsigned length = counts_read_number(bytes, &count);

	length += counts_read_number(bytes + length, &body);
	if (!body)
		length += counts_read_number(bytes + length, &value);
	*part = (struct stream_part){ (uint32_t)count, (unsigned)body,
		(int64_t)(value >> 1 ^ -(value & 1)) };
	return length;
}
