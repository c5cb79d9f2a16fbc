/* SPDX-License-Identifier: BSD-3-Clause */
/* What the components of the CPI models mean to a reader: work, loss, or what no event explains. */
#ifndef PHASEMUX_AGENT_PAGE_COMPONENTS_H
#define PHASEMUX_AGENT_PAGE_COMPONENTS_H

enum component_kind {
	COMPONENT_LOSS,       /* cycles in which the processor could have done more */
	COMPONENT_WORK,       /* cycles that the instructions take at the processor's peak rate */
	COMPONENT_UNEXPLAINED /* no event explains them */
};

/* Returns the kind of a component of the outer level, by its name in multiplex/models. */
enum component_kind component_kind(const char *name);

#endif
