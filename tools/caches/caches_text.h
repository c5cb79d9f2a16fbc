/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows what other caches would bring (caches_document.h) as text of at most 100 columns. */
#ifndef PHASEMUX_TOOLS_CACHES_CACHES_TEXT_H
#define PHASEMUX_TOOLS_CACHES_CACHES_TEXT_H

#include "agent/whatif/run_times.h"

/* Returns the text, to be freed, about the run and its `caches`; NULL without memory. */
char *caches_text(const struct run_times *run);

#endif
