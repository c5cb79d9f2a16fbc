/* SPDX-License-Identifier: BSD-3-Clause */
/* A job in numbers for the site's monitoring: OpenMetrics text, as node exporters collect it. */
#ifndef PHASEMUX_TOOLS_METRICS_H
#define PHASEMUX_TOOLS_METRICS_H

#include <jansson.h>
#include <stddef.h>

/*
 * Parallel efficiency, IPC and the share of each component of the CPI, over all reports (the steps
 * of one job, whose labels are those of the first). What no report knows is not there. The text, to
 * be freed, or NULL without memory.
 */
char *metrics_text(json_t *const reports[], size_t count);

#endif
