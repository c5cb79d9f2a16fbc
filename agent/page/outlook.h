/* SPDX-License-Identifier: BSD-3-Clause */
/* The view of what a change of the program would bring, as `phasemux whatif` says it. */
#ifndef PHASEMUX_AGENT_PAGE_OUTLOOK_H
#define PHASEMUX_AGENT_PAGE_OUTLOOK_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/page/parts/markup.h"

/* Returns whether the report has the times that the view needs. Those of older versions do not have them. */
bool page_has_outlook(const json_t *report);

/* Writes the changes that bring most. */
void page_outlook(struct page *page);

#endif
