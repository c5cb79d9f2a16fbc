/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's view of the efficiency: what the time of all ranks was spent on. */
#ifndef PHASEMUX_AGENT_PAGE_EFFICIENCY_H
#define PHASEMUX_AGENT_PAGE_EFFICIENCY_H

#include "agent/page/markup.h"

/* Writes the efficiencies as a figure and a table. */
void page_efficiency(struct page *page);

#endif
