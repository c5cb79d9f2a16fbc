/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes one HTML page from report.json alone: complete without scripts, without any address of the network, for
 * screens of any width, light and dark, and for print. Words and numbers are those of the text (agent/text).
 */
#ifndef PHASEMUX_AGENT_PAGE_PAGE_H
#define PHASEMUX_AGENT_PAGE_PAGE_H

#include <jansson.h>

/* Returns the page, to be freed; NULL without memory, or if the document is not a report (`why` says so). */
char *page_html(const json_t *report, char *why, size_t why_size);

#endif
