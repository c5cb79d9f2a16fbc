/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's table of phases, and what is known of each. */
#ifndef PHASEMUX_AGENT_PAGE_PHASES_H
#define PHASEMUX_AGENT_PAGE_PHASES_H

#include "agent/page/parts/markup.h"

/* Writes the table of phases, and the shown phases one by one. */
void page_phases(struct page *page);

#endif
