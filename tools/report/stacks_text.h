/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the call stacks of the kernel's samples as folded stacks, which tools for flame graphs read: a line for each
 * stack, with its frames from the phase on, separated by semicolons, then a blank and the number of samples.
 */
#ifndef PHASEMUX_TOOLS_REPORT_STACKS_TEXT_H
#define PHASEMUX_TOOLS_REPORT_STACKS_TEXT_H

#include <jansson.h>
#include <stddef.h>

/*
 * Returns the text, which the caller frees. If the report has no stacks, or without memory, returns NULL with one line
 * in `why`.
 */
char *stacks_text(const json_t *report, char *why, size_t why_size);

#endif
