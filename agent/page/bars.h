/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's bars of time: what that of all ranks was spent on, and which phases have the computing time. */
#ifndef PHASEMUX_AGENT_PAGE_BARS_H
#define PHASEMUX_AGENT_PAGE_BARS_H

#include "agent/page/parts/markup.h"

/* Writes the efficiencies as a figure and a table. */
void page_efficiency(struct page *page);

/* Writes the phases by their share of the computing time, for reports without cycles. */
void page_times(struct page *page);

#endif
