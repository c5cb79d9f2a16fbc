/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes a run as a trace for Perfetto: a process for each rank, a track for each thread, and a slice for each burst,
 * with its phase as the name and its counters as arguments. The bursts are those of the table of bursts. A run without
 * one has the calls and bursts of the structure of its calls, whose times are means.
 */
#ifndef PHASEMUX_TOOLS_REPORT_PERFETTO_H
#define PHASEMUX_TOOLS_REPORT_PERFETTO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the trace. path: of the report. Returns false with one line in why, also if the run has neither of both. */
bool perfetto_write(FILE *out, const json_t *report, const char *path, char *why, size_t why_size);

#endif
