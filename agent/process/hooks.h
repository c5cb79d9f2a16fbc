/* SPDX-License-Identifier: BSD-3-Clause */
/* The hooks, which the preload calls at the boundaries of bursts. */
#ifndef PHASEMUX_AGENT_PROCESS_HOOKS_H
#define PHASEMUX_AGENT_PROCESS_HOOKS_H

#include "agent/boundary/preload.h"

extern const struct preload_hooks hooks;

#endif
