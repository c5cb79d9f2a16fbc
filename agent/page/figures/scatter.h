/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's figure of single bursts: a sample of them in the space in which phases were learned. */
#ifndef PHASEMUX_AGENT_PAGE_FIGURES_SCATTER_H
#define PHASEMUX_AGENT_PAGE_FIGURES_SCATTER_H

#include "agent/page/parts/markup.h"

/* Returns whether the report has a sample of the bursts. */
bool page_has_scatter(const json_t *report);

/* Writes the figure, and its numbers as a table. */
void page_scatter(struct page *page);

#endif
