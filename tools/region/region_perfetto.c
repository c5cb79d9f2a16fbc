/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tools/paraver/prv_file.h"
#include "tools/region/region_write.h"
#include "tools/report/track_events.h"

/* Adds the counters of a burst as arguments of its slice. NULL: they were not read. */
static void add_counts(struct track_events *events, const struct region_rank *rank,
		const struct region_counts *counts)
{
	const struct region_group *group = counts ? &rank->group[counts->group] : NULL;

	for (unsigned i = 0; group && i < group->count; i++)
		track_events_number(events, rank->event[group->event[i]], (double)counts->value[i]);
}

/* Starts the slice of a burst. */
static void start_burst(struct track_events *events, uint64_t track, unsigned phase, uint64_t from)
{
	char name[32] = "computation";

	if (phase)
		snprintf(name, sizeof(name), "phase %u", phase);
	track_events_start(events, track, from, false, "computation", name);
}

static void add_call(struct track_events *events, uint64_t track, const struct region_label *label,
		uint64_t from, uint64_t to)
{
	track_events_start(events, track, from, from >= to, "call", label->call);
	if (*label->caller[0].function)
		track_events_text(events, "function", label->caller[0].function);
	if (*label->caller[0].position)
		track_events_text(events, "position", label->caller[0].position);
	if (*label->caller[1].position)
		track_events_text(events, "called from", label->caller[1].position);
	track_events_write(events);
	if (from < to)
		track_events_end(events, track, to);
}

static void add_rank(struct track_events *events, const struct region_trace *trace, size_t i)
{
	const struct region_rank *rank = trace->run->rank[i];
	unsigned pid = (unsigned)rank->facts.rank + 1;
	char name[32];
	uint64_t track;
	size_t next = 0;

	snprintf(name, sizeof(name), "rank %d", rank->facts.rank);
	track_events_process(events, pid, name);
	track = track_events_thread(events, pid, pid, "main thread");
	for (size_t c = 0; c < rank->calls; c++) {
		const struct region_call *call = &rank->call[c];
		uint64_t begin = (uint64_t)llround(region_ns(trace->run, rank, call->begin));
		uint64_t entered = (uint64_t)llround(region_ns(trace->run, rank, call->entered));
		const struct region_counts *counts = region_counts_of(rank, c, &next);

		if (begin < entered) {
			start_burst(events, track, region_phase(rank, call, trace->report), begin);
			add_counts(events, rank, counts);
			track_events_write(events);
			track_events_end(events, track, entered);
		}
		add_call(events, track, region_names_label(trace->names[i], call->site), entered,
				(uint64_t)llround(region_ns(trace->run, rank, call->left)));
	}
}

bool region_perfetto(const struct region_trace *trace, char *why, size_t why_size)
{
	FILE *out = prv_create(trace->path, ".perfetto-trace", why, why_size);
	struct track_events *events = out ? track_events_new(out) : NULL;
	bool good = events;

	for (size_t i = 0; i < trace->run->ranks && good; i++)
		add_rank(events, trace, i);
	if (out && !events)
		snprintf(why, why_size, "no memory");
	if (events && !track_events_close(events)) {
		snprintf(why, why_size, "no memory");
		good = false;
	}
	return out && prv_close(out, ".perfetto-trace", why, why_size) && good;
}
