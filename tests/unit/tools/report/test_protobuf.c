/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the wire format of Protocol Buffers, with bytes that its definition gives. */
#include <stdlib.h>

#include "tests/tap.h"
#include "tools/report/protobuf.h"

static bool has(const struct protobuf *message, const char *bytes, size_t count)
{
	return !message->failed && message->used == count &&
			memcmp(message->data, bytes, count) == 0;
}

#define HAS(message, bytes) has(message, bytes, sizeof(bytes) - 1)

static void test_numbers(void)
{
	static const struct {
		uint64_t value;
		const char *bytes;
		size_t count;
	} cases[] = {
		{ 0, "\x08\x00", 2 },
		{ 127, "\x08\x7f", 2 },
		{ 128, "\x08\x80\x01", 3 },
		{ 150, "\x08\x96\x01", 3 },
		{ 16384, "\x08\x80\x80\x01", 4 },
		{ UINT64_MAX, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct protobuf message = { .used = 0 };

		protobuf_varint(&message, 1, cases[i].value);
		ok(has(&message, cases[i].bytes, cases[i].count), "the number %llu",
				(unsigned long long)cases[i].value);
		protobuf_fini(&message);
	}
}

static void test_fields(void)
{
	struct protobuf message = { .used = 0 }, inner = { .used = 0 };

	protobuf_varint(&message, 60, 1);
	ok(HAS(&message, "\xe0\x03\x01"), "a field whose tag has two bytes");
	protobuf_reset(&message);
	protobuf_double(&message, 5, 1.5);
	ok(HAS(&message, "\x29\x00\x00\x00\x00\x00\x00\xf8\x3f"), "a number with a fraction");
	protobuf_reset(&message);
	protobuf_text(&message, 2, "testing");
	ok(HAS(&message, "\x12\x07testing"), "a text");
	protobuf_reset(&message);
	protobuf_text(&message, 2, "");
	ok(HAS(&message, "\x12\x00"), "an empty text");
	protobuf_reset(&message);
	protobuf_message(&message, 4, &inner);
	protobuf_varint(&inner, 1, 150);
	protobuf_message(&message, 3, &inner);
	ok(HAS(&message, "\x22\x00\x1a\x03\x08\x96\x01"), "an empty message, and one with a field");
	protobuf_fini(&message);
	protobuf_fini(&inner);
}

static void test_long(void)
{
	enum { LENGTH = 100000 };
	struct protobuf message = { .used = 0 };
	char *text = calloc(1, LENGTH + 1);

	if (text) {
		memset(text, 'x', LENGTH);
		protobuf_text(&message, 1, text);
	}
	ok(text && message.used == LENGTH + 4 && memcmp(message.data, "\x0a\xa0\x8d\x06x", 5) == 0,
			"a long text");
	free(text);
	protobuf_fini(&message);
}

int main(void)
{
	test_numbers();
	test_fields();
	test_long();
	return tap_done();
}
