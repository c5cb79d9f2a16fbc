/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's curves of how the rates of counters change from the start to the end of a phase's bursts. */
#ifndef PHASEMUX_AGENT_PAGE_FIGURES_INSIDE_H
#define PHASEMUX_AGENT_PAGE_FIGURES_INSIDE_H

#include "agent/page/parts/markup.h"

/* Writes the curves of the counters of a phase, or nothing if it was sampled too rarely. */
void page_inside(struct page *page, const json_t *phase);

#endif
