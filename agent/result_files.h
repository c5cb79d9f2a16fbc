/* SPDX-License-Identifier: BSD-3-Clause */
/* The files of a report, in the folder of the results. */
#ifndef PHASEMUX_AGENT_RESULT_FILES_H
#define PHASEMUX_AGENT_RESULT_FILES_H

#include <jansson.h>
#include <stdbool.h>

/*
 * Writes the forms of a report that PHASEMUX_REPORT asks for, in files that are named STEM.txt and so on, or
 * with a number where those exist. With `prints`, prints the text to stderr. Returns whether all files are
 * there; stderr says what is missing.
 */
bool result_files_write(const json_t *report, const char *stem, bool prints);

#endif
