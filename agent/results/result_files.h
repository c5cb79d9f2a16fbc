/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the files of a report to the folder of the results. */
#ifndef PHASEMUX_AGENT_RESULTS_RESULT_FILES_H
#define PHASEMUX_AGENT_RESULTS_RESULT_FILES_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Writes the forms of a report that PHASEMUX_REPORT asks for, to files STEM.txt and so on, or with a number if
 * these exist. at_end: also prints the text to stderr, and writes the trace (agent/trace) beside a report as JSON.
 * Returns whether all files were written. Otherwise it prints what is missing to stderr.
 */
bool result_files_write(const json_t *report, const char *stem, bool at_end);

#endif
