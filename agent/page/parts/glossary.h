/* SPDX-License-Identifier: BSD-3-Clause */
/* The page's glossary, whose texts are those of docs/glossary.md. */
#ifndef PHASEMUX_AGENT_PAGE_PARTS_GLOSSARY_H
#define PHASEMUX_AGENT_PAGE_PARTS_GLOSSARY_H

#include "agent/page/parts/markup.h"

/* Writes a term, as a link to its entry of the glossary if it has one. */
void page_term(struct page *page, const char *term);

/* Writes the glossary. */
void page_terms(struct page *page);

#endif
