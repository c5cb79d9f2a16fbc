/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's figure of the trainings: when in the run the phases were known. */
#ifndef PHASEMUX_AGENT_PAGE_FIGURES_TRAININGS_H
#define PHASEMUX_AGENT_PAGE_FIGURES_TRAININGS_H

#include "agent/page/parts/markup.h"

/* Returns whether the report has at least one training. */
bool page_has_trainings(const json_t *report);

/* Writes the figure, and its numbers as a table. */
void page_trainings(struct page *page);

#endif
