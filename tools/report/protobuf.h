/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes messages in the wire format of Protocol Buffers, field by field. Without memory a message is marked as
 * failed, and further fields do nothing.
 */
#ifndef PHASEMUX_TOOLS_REPORT_PROTOBUF_H
#define PHASEMUX_TOOLS_REPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeros are an empty message. */
struct protobuf {
	uint8_t *data;
	size_t used, room;
	bool failed;
};

/* Fields of the types uint32, uint64, bool, and enum; int32 and int64 that are not negative. */
void protobuf_varint(struct protobuf *message, unsigned field, uint64_t value);

void protobuf_double(struct protobuf *message, unsigned field, double value);
void protobuf_text(struct protobuf *message, unsigned field, const char *text);
void protobuf_message(struct protobuf *message, unsigned field, const struct protobuf *inner);

/* Makes the message empty again, and keeps its memory. */
void protobuf_reset(struct protobuf *message);
void protobuf_fini(struct protobuf *message);

#endif
