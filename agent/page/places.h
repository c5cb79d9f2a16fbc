/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's view of the source: between which calls the phases lie, and where they were sampled. */
#ifndef PHASEMUX_AGENT_PAGE_PLACES_H
#define PHASEMUX_AGENT_PAGE_PLACES_H

#include "agent/page/parts/markup.h"

/* Writes the tables of places. */
void page_places(struct page *page);

#endif
