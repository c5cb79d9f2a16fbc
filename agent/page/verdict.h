/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's first view: what the run lost most time with, what ran, and how far its numbers can be trusted. */
#ifndef PHASEMUX_AGENT_PAGE_VERDICT_H
#define PHASEMUX_AGENT_PAGE_VERDICT_H

#include "agent/page/parts/markup.h"

/* Writes the verdict, the run card and the table of trust. */
void page_verdict(struct page *page);

#endif
