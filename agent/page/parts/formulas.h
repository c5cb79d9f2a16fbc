/* SPDX-License-Identifier: BSD-3-Clause */
/* The formulas and events of the model of the report: how each component and each metric follows from what was counted. */
#ifndef PHASEMUX_AGENT_PAGE_PARTS_FORMULAS_H
#define PHASEMUX_AGENT_PAGE_PARTS_FORMULAS_H

#include "agent/page/parts/markup.h"

/* Returns the text of the built-in model that the report names as JSON, which the caller releases. NULL: there is none. */
json_t *formulas_load(const json_t *report);

/*
 * Write the name of a component, of a metric or of an event as a link to its meaning on the page, if it has one: in the
 * glossary, or in the formulas of the model.
 */
void page_component_name(struct page *page, const char *name);
void page_metric_name(struct page *page, const char *name);
void page_event_name(struct page *page, const char *name);

/* Writes the formulas of the components and metrics, and the events. Without a model it writes nothing. */
void page_formulas(struct page *page);

#endif
