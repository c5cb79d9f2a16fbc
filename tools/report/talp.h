/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the efficiencies of a run in the form of TALP (DLB 3.5), so that the tools that read its files read those of
 * phasemux. The names of the keys are those of TALP, and docs/report.md says what they hold here.
 */
#ifndef PHASEMUX_TOOLS_REPORT_TALP_H
#define PHASEMUX_TOOLS_REPORT_TALP_H

#include <jansson.h>

/* Returns the JSON text, which the caller frees; NULL without memory. What was not measured is null. */
char *talp_text(const json_t *report);

#endif
