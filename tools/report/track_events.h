/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a trace of Perfetto: packets with the tracks of processes and threads, and slices on them. Names are written
 * once, and slices refer to them by numbers.
 */
#ifndef PHASEMUX_TOOLS_REPORT_TRACK_EVENTS_H
#define PHASEMUX_TOOLS_REPORT_TRACK_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct track_events;

/* Returns NULL without memory. The caller frees it with track_events_close. */
struct track_events *track_events_new(FILE *out);

/* Adds the track of a process, or of a thread of it. Returns its number. pid and tid are from 1. */
uint64_t track_events_process(struct track_events *events, unsigned pid, const char *name);
uint64_t track_events_thread(struct track_events *events, unsigned pid, unsigned tid,
		const char *name);

/*
 * Starts a slice, or with `instant` an event without length. Arguments of it follow, and then track_events_write.
 * Events of a track are in the order of their times.
 */
void track_events_start(struct track_events *events, uint64_t track, uint64_t ns, bool instant,
		const char *category, const char *name);
void track_events_number(struct track_events *events, const char *name, double value);
void track_events_text(struct track_events *events, const char *name, const char *text);
void track_events_write(struct track_events *events);

/* Ends the slice that was started last on the track. */
void track_events_end(struct track_events *events, uint64_t track, uint64_t ns);

/* Frees the trace, but not its file. Returns false if there was no memory for all of it. */
bool track_events_close(struct track_events *events);

#endif
