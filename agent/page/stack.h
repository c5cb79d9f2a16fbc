/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's figures of the phases: the parts of the cycles per instruction, or of the time. */
#ifndef PHASEMUX_AGENT_PAGE_STACK_H
#define PHASEMUX_AGENT_PAGE_STACK_H

#include "agent/page/parts/markup.h"

/* A colour or pattern of SVG, as the value of the attribute fill. */
struct stack_fill {
	char text[24];
};

/* Returns the fill of a component of the outer level, which is the same in all figures of a report. */
struct stack_fill stack_fill(const json_t *report, const char *component);

/* Returns the fill of a component of the outer level that `losses` other losses stand before. */
struct stack_fill stack_fill_of(const char *component, unsigned losses);

/* Returns a step of 1, 2 or 5 times a power of ten that divides the range from 0 to `most` into at most six. */
double page_step(double most);

/* Writes the patterns of the page's figures, which stand in no figure themselves. */
void stack_patterns(struct page *page);

/* Starts an item of a figure's key, with its fill. The caller writes its words and ends it. */
void stack_swatch(struct page *page, const char *fill);

/* Writes the figures of all phases, or what is missing for them. */
void page_stacks(struct page *page);

#endif
