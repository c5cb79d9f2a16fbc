/* SPDX-License-Identifier: BSD-3-Clause */
#include "cluster/streams/stream_bytes.h"

#include "cluster/loops/counts.h"

static size_t write_number(int64_t value, uint32_t count, uint8_t *bytes)
{
	size_t length = counts_write_number(bytes, count);

	length += counts_write_number(bytes + length, 0);
	/* the sign is the lowest bit, so that numbers near 0 are short */
	return length +
			counts_write_number(bytes + length,
					(uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0));
}

static size_t write_list(const struct streams *streams, uint16_t item, uint8_t *bytes)
{
	size_t length = 0;

	for (; item; item = streams->item[item].next) {
		const struct stream_item *one = &streams->item[item];

		if (!one->first) {
			length += write_number(one->value, one->count, bytes + length);
			continue;
		}
		length += counts_write_number(bytes + length, one->count);
		length += counts_write_number(bytes + length, one->length);
		length += write_list(streams, one->first, bytes + length);
	}
	return length;
}

/* Writes the round under way, which is in no item yet. */
static size_t write_round(const struct streams *streams, const struct stream *stream,
		uint8_t *bytes)
{
	uint16_t item = streams->item[stream->last].first;
	size_t length = 0;

	for (; item != stream->expected; item = streams->item[item].next)
		length += write_number(streams->item[item].value, streams->item[item].count,
				bytes + length);
	return length + write_number(streams->item[item].value, stream->within, bytes + length);
}

size_t stream_write(const struct streams *streams, const struct stream *stream, uint8_t *bytes)
{
	size_t length = write_list(streams, stream->first, bytes);

	return stream->expected ? length + write_round(streams, stream, bytes + length) : length;
}

/* Returns the length of a number of at most `bits` bits, or 0 if there is none. */
static unsigned number_length(const uint8_t *bytes, size_t length, unsigned bits)
{
	unsigned most = (bits + 6) / 7;

	for (unsigned i = 0; i < most && i < length; i++)
		if (!(bytes[i] & 0x80))
			return i + 1 == most && bytes[i] >> (bits - 7 * i) ? 0 : i + 1;
	return 0;
}

/* Returns the length of an item with its body, or 0 if it is none. */
static size_t item_length(const uint8_t *bytes, size_t length, unsigned depth)
{
	size_t at = number_length(bytes, length, 32), more;
	uint64_t count, body;

	more = at ? number_length(bytes + at, length - at, 7) : 0;
	if (!more)
		return 0;
	counts_read_number(bytes, &count);
	counts_read_number(bytes + at, &body);
	at += more;
	if (!count || body > STREAM_PERIOD_MAX || (body && depth == STREAM_DEPTH_MAX))
		return 0;
	if (!body) {
		more = number_length(bytes + at, length - at, 64);
		return more ? at + more : 0;
	}
	for (; body; body--, at += more) {
		more = item_length(bytes + at, length - at, depth + 1);
		if (!more)
			return 0;
	}
	return at;
}

bool stream_is_valid(const uint8_t *bytes, size_t length)
{
	for (size_t at = 0, more; at < length; at += more) {
		more = item_length(bytes + at, length - at, 0);
		if (!more)
			return false;
	}
	return true;
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
