/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's figures of the phases: the parts of the cycles per instruction, or of the time. */
#ifndef PHASEMUX_AGENT_PAGE_STACK_H
#define PHASEMUX_AGENT_PAGE_STACK_H

#include "agent/page/parts/patterns.h"

/* Returns the pattern of a component of the outer level, which is the same in all figures of a report. */
struct pattern stack_pattern(const json_t *report, const char *component);

/* Writes the figures of all phases, or what is missing for them. */
void page_stacks(struct page *page);

#endif
