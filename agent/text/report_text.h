/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a report for people from the JSON document alone, so that a stored document gives the same report. It
 * has at most 100 columns, and needs no colour.
 */
#ifndef PHASEMUX_AGENT_TEXT_REPORT_TEXT_H
#define PHASEMUX_AGENT_TEXT_REPORT_TEXT_H

#include <jansson.h>
#include <stdbool.h>

/* Returns whether the document is a report that this version can show. If it is not, `why` says what it is. */
bool report_is_valid(const json_t *report, char *why, size_t why_size);

/* Returns the text, to be freed; NULL without memory, or if the document is not a report (`why` says so). */
char *report_text(const json_t *report, char *why, size_t why_size);

/*
 * Returns a line per phase and counter: phase, share of time, bursts, counter, mean, ci95, observed. The caller
 * frees it. NULL as for report_text.
 */
char *report_csv(const json_t *report, char *why, size_t why_size);

#endif
