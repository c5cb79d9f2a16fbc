/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A report for people, made from the JSON document alone, so that a stored one reads the same.
 * At most 100 columns; readable without colour.
 */
#ifndef PHASEMUX_AGENT_REPORT_TEXT_H
#define PHASEMUX_AGENT_REPORT_TEXT_H

#include <jansson.h>

/* The text, to be freed; NULL without memory, or when the document is not a report (why says so). */
char *report_text(const json_t *report, char *why, size_t why_size);

/* One line per phase and counter: phase, share of time, bursts, counter, mean, ci95, observed. */
char *report_csv(const json_t *report, char *why, size_t why_size);

#endif
