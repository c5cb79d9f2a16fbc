/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the trace of a report: the structure of the calls alone, in a few kilobytes. Names and places stand once in a table,
 * times have three digits, and tokens are arrays (docs/trace-format.md).
 */
#ifndef PHASEMUX_AGENT_TRACE_TRACE_PACK_H
#define PHASEMUX_AGENT_TRACE_TRACE_PACK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns whether the report has a structure, and so a trace. */
bool trace_pack_exists(const json_t *report);

/* Returns the trace, which the caller owns, or NULL if the report has no structure, or without memory. */
json_t *trace_pack(const json_t *report);

/* Returns the trace as a text, which the caller frees, or NULL with the reason in why. */
char *trace_pack_text(const json_t *report, char *why, size_t why_size);

#endif
