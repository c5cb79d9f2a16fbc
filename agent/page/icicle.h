/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's figures of the call stacks at which the kernel has sampled the phases. */
#ifndef PHASEMUX_AGENT_PAGE_ICICLE_H
#define PHASEMUX_AGENT_PAGE_ICICLE_H

#include "agent/page/parts/markup.h"

/* Writes the figures of the phases with stacks; nothing if the report has none. */
void page_icicles(struct page *page);

#endif
