/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shows a comparison as one HTML page, which needs no scripts and no network. Words and numbers are those of the
 * text.
 */
#ifndef PHASEMUX_TOOLS_COMPARE_COMPARE_PAGE_H
#define PHASEMUX_TOOLS_COMPARE_COMPARE_PAGE_H

#include <jansson.h>

/* Returns the page of a document of comparison_make(), to be freed; NULL without memory. */
char *compare_page(const json_t *comparison);

#endif
