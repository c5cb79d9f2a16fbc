/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's figure of how the intervals of the large phases narrowed while the program ran, and how long a run must be. */
#ifndef PHASEMUX_AGENT_PAGE_FIGURES_NARROWING_H
#define PHASEMUX_AGENT_PAGE_FIGURES_NARROWING_H

#include "agent/page/parts/markup.h"

/*
 * Writes the figure and its table. The report has the intervals at the end of the run. An interval is as wide as the square root of
 * the number of observations demands, and these grow with the time that the ranks have spent in the phase, which is in the
 * timeline. Without a timeline, or without intervals, it writes nothing.
 */
void page_narrowing(struct page *page);

#endif
