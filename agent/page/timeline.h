/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's figure of the run over time: what groups of ranks do when. */
#ifndef PHASEMUX_AGENT_PAGE_TIMELINE_H
#define PHASEMUX_AGENT_PAGE_TIMELINE_H

#include <stdbool.h>

#include "agent/page/parts/markup.h"

/* Returns whether the report knows when its phases were executed. */
bool page_has_timeline(const json_t *report);

/* Writes the figure, and the same as tables. */
void page_timeline(struct page *page);

#endif
