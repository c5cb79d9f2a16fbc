/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the answers of `phasemux whatif` to people: in words first, then as a table. */
#ifndef PHASEMUX_TOOLS_WHATIF_WHATIF_TEXT_H
#define PHASEMUX_TOOLS_WHATIF_WHATIF_TEXT_H

#include "agent/whatif/answers.h"

/* Returns the text, or NULL if there is no memory. The caller frees it. */
char *whatif_text(const struct answers *answers);

#endif
