/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the trace of a run, which may be a file of unknown origin, as the report that it was made of. */
#ifndef PHASEMUX_AGENT_TRACE_TRACE_UNPACK_H
#define PHASEMUX_AGENT_TRACE_TRACE_UNPACK_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Returns whether a document is a trace. */
bool trace_unpack_is_trace(const json_t *document);

/*
 * Returns the part of the report that the trace has: its "structure", and which run it is of. Times have the digits of the
 * trace. The caller owns it. Returns NULL with the reason in why.
 */
json_t *trace_unpack(const json_t *trace, char *why, size_t why_size);

#endif
