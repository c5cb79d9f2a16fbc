/* SPDX-License-Identifier: BSD-3-Clause */
/* What `phasemux whatif --simulate` has found about the run, if the report has it as its `simulation`. */
#ifndef PHASEMUX_AGENT_PAGE_SIMULATED_H
#define PHASEMUX_AGENT_PAGE_SIMULATED_H

#include "agent/page/parts/markup.h"

/* Writes the simulated times, a table of the changes, and the surface of faster machines; nothing if there are none. */
void page_simulated(struct page *page);

#endif
