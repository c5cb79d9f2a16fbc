/* SPDX-License-Identifier: BSD-3-Clause */
/* The colours and patterns of the page's figures, by which components and phases are told apart, and their axes. */
#ifndef PHASEMUX_AGENT_PAGE_PARTS_PATTERNS_H
#define PHASEMUX_AGENT_PAGE_PARTS_PATTERNS_H

#include "agent/page/parts/markup.h"

/* A pattern of SVG, as the value of the attribute fill. */
struct pattern {
	char text[24];
};

/* Returns the pattern of a component of the outer level that `losses` other losses stand before. */
struct pattern pattern_of_component(const char *component, unsigned losses);

/* Return the pattern and the colour of a phase, by its id, which are the same in all figures of a report. */
struct pattern pattern_of_phase(const json_t *report, double id);
const char *pattern_colour(const json_t *report, double id);

/* Returns a step of 1, 2 or 5 times a power of ten that divides the range from 0 to `most` into at most six. */
double axis_step(double most);

/* Writes the patterns of the page's figures, which stand in no figure themselves. */
void patterns_write(struct page *page);

/* Starts an item of a figure's key, with its fill. The caller writes its words and ends it. */
void pattern_swatch(struct page *page, const char *fill);

#endif
