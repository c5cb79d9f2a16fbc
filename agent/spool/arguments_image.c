/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/spool/arguments_image.h"

#include <math.h>
#include <string.h>

#define HEAD_BYTES sizeof(uint64_t) /* number of calls that are left out */

size_t arguments_image_bound(const struct call_arguments *arguments)
{
	return HEAD_BYTES + arguments->streams.count * sizeof(struct arguments_record) +
			2 * arguments->streams.fresh * (size_t)STREAM_ITEM_BYTES;
}

static size_t write_stream(struct streams *streams, uint32_t number, uint32_t site,
		uint32_t argument, uint8_t *bytes)
{
	const struct stream *stream = &streams->stream[number];
	struct arguments_record record = { .site = site, .argument = argument };

	stream_settle(streams, number);
	record.count = stream->count;
	record.exact = stream->exact;
	record.marks = stream->marks;
	record.least = stream->least;
	record.most = stream->most;
	record.sum = stream->sum;
	record.bytes = (uint32_t)stream_write(streams, stream, bytes + sizeof(record));
	memcpy(bytes, &record, sizeof(record));
	return sizeof(record) + record.bytes;
}

size_t arguments_image_write(struct call_arguments *arguments, const struct site_table *sites,
		uint8_t *bytes)
{
	uint32_t last = atomic_load_explicit(&sites->sites, memory_order_relaxed);
	size_t length = HEAD_BYTES;

	memcpy(bytes, &arguments->left_out, HEAD_BYTES);
	for (uint32_t site = 1; site <= last && site < SITES_MAX; site++) {
		uint32_t number = arguments->first[site];
		unsigned kinds = call_arguments_of(sites->site[site].call);

		for (uint32_t argument = 0; number && argument < ARGUMENTS; argument++)
			if (kinds & 1u << argument)
				length += write_stream(&arguments->streams, number++ - 1, site,
						argument, bytes + length);
	}
	return length;
}

uint64_t arguments_image_left_out(const uint8_t *bytes)
{
	uint64_t left_out;

	memcpy(&left_out, bytes, sizeof(left_out));
	return left_out;
}

static bool is_record(const struct arguments_record *record, uint32_t sites)
{
	bool complete = record->exact == STREAM_ALL;

	return record->site && record->site <= sites && record->site < SITES_MAX &&
			record->argument < ARGUMENTS && record->count &&
			record->marks <= record->count &&
			(complete || record->exact <= record->count) && isfinite(record->sum) &&
			record->bytes <= STREAM_BYTES_MAX && (record->bytes || !complete);
}

const uint8_t *arguments_image_next(const uint8_t *bytes, size_t length, size_t *at, uint32_t sites,
		struct arguments_record *record)
{
	const uint8_t *values;
	size_t from = *at ? *at : HEAD_BYTES;

	if (length < from || length - from < sizeof(*record))
		return NULL;
	memcpy(record, bytes + from, sizeof(*record));
	from += sizeof(*record);
	values = bytes + from;
	if (!is_record(record, sites) || record->bytes > length - from ||
			!stream_is_valid(values, record->bytes))
		return NULL;
	*at = from + record->bytes;
	return values;
}
