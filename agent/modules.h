/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the files that are loaded now. These functions enter the loader. Any thread may call them. */
#ifndef PHASEMUX_AGENT_MODULES_H
#define PHASEMUX_AGENT_MODULES_H

#include <stdbool.h>

#include "agent/source.h"

/* Lists at most `max` files, the program first. Returns how many. */
unsigned modules_now(struct source_module *modules, unsigned max);

/* Returns whether both are the same file at the same addresses. */
bool modules_are_same(const struct source_module *a, const struct source_module *b);

#endif
