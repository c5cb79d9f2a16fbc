/* SPDX-License-Identifier: BSD-3-Clause */
/* The text's table of phases: where each phase is, and what was counted in it. */
#ifndef PHASEMUX_AGENT_TEXT_REPORT_PHASES_H
#define PHASEMUX_AGENT_TEXT_REPORT_PHASES_H

#include <jansson.h>
#include <stdio.h>

/* Prints the table of phases of a report. */
void report_phases(FILE *out, const json_t *report);

#endif
