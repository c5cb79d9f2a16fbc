/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of the fields are those of Perfetto's protos/perfetto/trace. */
#include "tools/report/track_events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tools/report/protobuf.h"

#define SEQUENCE 1 /* all packets are of one writer */

enum { TRACE_PACKET = 1 };
enum {
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_TRACK_DESCRIPTOR = 60,
};
enum { FLAG_CLEARED = 1, FLAG_NEEDS_STATE = 2 };
enum { TRACK_UUID = 1, TRACK_PROCESS = 3, TRACK_THREAD = 4 };
enum { PROCESS_PID = 1, PROCESS_NAME = 6 };
enum { THREAD_PID = 1, THREAD_TID = 2, THREAD_NAME = 5 };
enum {
	EVENT_CATEGORY = 3,
	EVENT_ARGUMENT = 4,
	EVENT_TYPE = 9,
	EVENT_NAME = 10,
	EVENT_TRACK = 11,
};
enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3 };
enum { ARGUMENT_NAME = 1, ARGUMENT_UINT = 3, ARGUMENT_DOUBLE = 5, ARGUMENT_TEXT = 6 };
enum { INTERNED_NUMBER = 1, INTERNED_NAME = 2 };

/* Kinds of names, by their fields in the interned data. */
enum kind { CATEGORY = 1, NAME = 2, ARGUMENT = 3, KINDS };

/* Names that were written, numbered from 1. */
struct interned {
	char **text;
	size_t count;
};

struct track_events {
	FILE *out;
	struct interned names[KINDS];
	struct protobuf packet, event, part, entry, interned;
	uint64_t ns, tracks;
	bool started; /* a packet was written */
	bool failed;
};

struct track_events *track_events_new(FILE *out)
{
	struct track_events *events = calloc(1, sizeof(*events));

	if (events)
		events->out = out;
	return events;
}

/* Returns the number of a name. A new one is added to the interned data of the packet. */
static uint64_t intern(struct track_events *events, enum kind kind, const char *text)
{
	struct interned *names = &events->names[kind];
	char **more;

	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->text[i], text) == 0)
			return i + 1;
	more = realloc(names->text, (names->count + 1) * sizeof(*more));
	if (more)
		names->text = more;
	if (!more || !(more[names->count] = strdup(text))) {
		events->failed = true;
		return 0;
	}
	names->count++;
	protobuf_reset(&events->entry);
	protobuf_varint(&events->entry, INTERNED_NUMBER, names->count);
	protobuf_text(&events->entry, INTERNED_NAME, text);
	protobuf_message(&events->interned, kind, &events->entry);
	return names->count;
}

/* Writes the packet. The first one says that no earlier names exist. */
static void write_packet(struct track_events *events)
{
	struct protobuf *packet = &events->packet, *whole = &events->entry;

	protobuf_varint(packet, PACKET_SEQUENCE, SEQUENCE);
	if (events->interned.used)
		protobuf_message(packet, PACKET_INTERNED_DATA, &events->interned);
	protobuf_varint(packet, PACKET_SEQUENCE_FLAGS,
			FLAG_NEEDS_STATE | (events->started ? 0 : FLAG_CLEARED));
	protobuf_reset(whole);
	protobuf_message(whole, TRACE_PACKET, packet);
	if (whole->failed)
		events->failed = true;
	else
		fwrite(whole->data, 1, whole->used, events->out);
	protobuf_reset(packet);
	protobuf_reset(&events->interned);
	events->started = true;
}

/* Writes the descriptor of a track, whose process or thread is in events->part. Returns the number of the track. */
static uint64_t write_track(struct track_events *events, unsigned field)
{
	struct protobuf *track = &events->event;

	events->tracks++;
	protobuf_reset(track);
	protobuf_varint(track, TRACK_UUID, events->tracks);
	protobuf_message(track, field, &events->part);
	protobuf_message(&events->packet, PACKET_TRACK_DESCRIPTOR, track);
	write_packet(events);
	return events->tracks;
}

uint64_t track_events_process(struct track_events *events, unsigned pid, const char *name)
{
	protobuf_reset(&events->part);
	protobuf_varint(&events->part, PROCESS_PID, pid);
	protobuf_text(&events->part, PROCESS_NAME, name);
	return write_track(events, TRACK_PROCESS);
}

uint64_t track_events_thread(struct track_events *events, unsigned pid, unsigned tid,
		const char *name)
{
	protobuf_reset(&events->part);
	protobuf_varint(&events->part, THREAD_PID, pid);
	protobuf_varint(&events->part, THREAD_TID, tid);
	protobuf_text(&events->part, THREAD_NAME, name);
	return write_track(events, TRACK_THREAD);
}

static void start(struct track_events *events, uint64_t track, uint64_t ns, unsigned type)
{
	events->ns = ns;
	protobuf_reset(&events->event);
	protobuf_varint(&events->event, EVENT_TYPE, type);
	protobuf_varint(&events->event, EVENT_TRACK, track);
}

void track_events_start(struct track_events *events, uint64_t track, uint64_t ns, bool instant,
		const char *category, const char *name)
{
	start(events, track, ns, instant ? TYPE_INSTANT : TYPE_BEGIN);
	protobuf_varint(&events->event, EVENT_CATEGORY, intern(events, CATEGORY, category));
	protobuf_varint(&events->event, EVENT_NAME, intern(events, NAME, name));
}

/* Starts an argument in events->part. */
static void start_argument(struct track_events *events, const char *name)
{
	uint64_t number = intern(events, ARGUMENT, name);

	protobuf_reset(&events->part);
	protobuf_varint(&events->part, ARGUMENT_NAME, number);
}

void track_events_number(struct track_events *events, const char *name, double value)
{
	start_argument(events, name);
	if (value >= 0 && value < 9e15 && value == floor(value))
		protobuf_varint(&events->part, ARGUMENT_UINT, (uint64_t)value);
	else
		protobuf_double(&events->part, ARGUMENT_DOUBLE, value);
	protobuf_message(&events->event, EVENT_ARGUMENT, &events->part);
}

void track_events_text(struct track_events *events, const char *name, const char *text)
{
	start_argument(events, name);
	protobuf_text(&events->part, ARGUMENT_TEXT, text);
	protobuf_message(&events->event, EVENT_ARGUMENT, &events->part);
}

void track_events_write(struct track_events *events)
{
	protobuf_varint(&events->packet, PACKET_TIMESTAMP, events->ns);
	protobuf_message(&events->packet, PACKET_TRACK_EVENT, &events->event);
	write_packet(events);
}

void track_events_end(struct track_events *events, uint64_t track, uint64_t ns)
{
	start(events, track, ns, TYPE_END);
	track_events_write(events);
}

bool track_events_close(struct track_events *events)
{
	bool good = !events->failed;

	for (enum kind kind = CATEGORY; kind < KINDS; kind++) {
		for (size_t i = 0; i < events->names[kind].count; i++)
			free(events->names[kind].text[i]);
		free(events->names[kind].text);
	}
	protobuf_fini(&events->packet);
	protobuf_fini(&events->event);
	protobuf_fini(&events->part);
	protobuf_fini(&events->entry);
	protobuf_fini(&events->interned);
	free(events);
	return good;
}
