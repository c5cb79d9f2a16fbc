/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows a comparison as text of at most 100 columns. */
#ifndef PHASEMUX_TOOLS_COMPARE_COMPARE_TEXT_H
#define PHASEMUX_TOOLS_COMPARE_COMPARE_TEXT_H

#include <jansson.h>

/* Returns the text of a document of comparison_make(), to be freed; NULL without memory. */
char *compare_text(const json_t *comparison);

#endif
