/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's glossary, whose texts are those of docs/glossary.md. */
#ifndef PHASEMUX_AGENT_PAGE_PARTS_GLOSSARY_H
#define PHASEMUX_AGENT_PAGE_PARTS_GLOSSARY_H

#include "agent/page/parts/markup.h"

#define GLOSSARY_METRICS "Metrics" /* title of the section of metrics */

/* Writes a term, as a link to its entry of the glossary if it has one. */
void page_term(struct page *page, const char *term);

/* Returns whether the glossary has a term. */
bool glossary_has(const char *term);

/* Writes a term as a part of a name within the page: "CPI component" is "cpi-component". */
void glossary_write_id(struct page *page, const char *term, size_t size);

/* Writes the meaning of a term in a section of the glossary, and a space behind it. Without one it writes nothing. */
void glossary_write_meaning(struct page *page, const char *section, const char *term);

/* Writes the glossary. write_metrics: writes what is in the place of the metrics. */
void page_terms(struct page *page, void (*write_metrics)(struct page *page));

#endif
