/* SPDX-License-Identifier: BSD-3-Clause */
/* The numbers of a job for the site's monitoring, as OpenMetrics text, which node exporters collect. */
#ifndef PHASEMUX_TOOLS_REPORT_METRICS_H
#define PHASEMUX_TOOLS_REPORT_METRICS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Returns the text, or NULL if there is no memory: parallel efficiency, IPC and the share of each component of
 * the CPI. They are over all reports, which are the steps of one job; the labels are those of the first. Values
 * that no report knows are missing. The caller frees the text.
 */
char *metrics_text(json_t *const reports[], size_t count);

/* Returns the cycles and the instructions of all bursts of a phase. Returns false if they were not counted. */
bool metrics_phase_counts(const json_t *phase, double *cycles, double *instructions);

#endif
