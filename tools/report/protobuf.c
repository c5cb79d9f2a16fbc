/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/report/protobuf.h"

#include <stdlib.h>
#include <string.h>

enum wire { VARINT = 0, FIXED64 = 1, LENGTH = 2 };

static void protobuf_append(struct protobuf *message, const void *bytes, size_t count)
{
	if (message->used + count > message->room) {
		size_t room = 2 * (message->used + count) + 64;
		uint8_t *more = realloc(message->data, room);

		if (!more) {
			message->failed = true;
			return;
		}
		message->data = more;
		message->room = room;
	}
	if (count)
		memcpy(message->data + message->used, bytes, count);
	message->used += count;
}

/* Adds a number in groups of seven bits, the lowest first. All but the last have the highest bit set. */
static void add_varint(struct protobuf *message, uint64_t value)
{
	uint8_t bytes[10];
	size_t count = 0;

	for (; value > 0x7f; value >>= 7)
		bytes[count++] = (uint8_t)(value | 0x80);
	bytes[count++] = (uint8_t)value;
	protobuf_append(message, bytes, count);
}

static void add_tag(struct protobuf *message, unsigned field, enum wire wire)
{
	add_varint(message, (uint64_t)field << 3 | wire);
}

static void add_block(struct protobuf *message, unsigned field, const void *bytes, size_t count)
{
	add_tag(message, field, LENGTH);
	add_varint(message, count);
	protobuf_append(message, bytes, count);
}

void protobuf_varint(struct protobuf *message, unsigned field, uint64_t value)
{
	add_tag(message, field, VARINT);
	add_varint(message, value);
}

void protobuf_double(struct protobuf *message, unsigned field, double value)
{
	uint8_t bytes[8];
	uint64_t bits;

	memcpy(&bits, &value, sizeof(bits));
	for (unsigned i = 0; i < 8; i++)
		bytes[i] = (uint8_t)(bits >> (8 * i));
	add_tag(message, field, FIXED64);
	protobuf_append(message, bytes, sizeof(bytes));
}

void protobuf_text(struct protobuf *message, unsigned field, const char *text)
{
	add_block(message, field, text, strlen(text));
}

void protobuf_message(struct protobuf *message, unsigned field, const struct protobuf *inner)
{
	message->failed = message->failed || inner->failed;
	add_block(message, field, inner->data, inner->used);
}

void protobuf_reset(struct protobuf *message)
{
	message->used = 0;
}

void protobuf_fini(struct protobuf *message)
{
	free(message->data);
	*message = (struct protobuf){ .data = NULL };
}
