/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * With PHASEMUX_TOGGLE, the agent alternates on and off, on all ranks at the same moments, and measures how
 * much slower the program is while it is on (slowdown.h). While it is off, calls are as when phasemux is
 * disabled, and nothing is counted. The report covers the observed time. The kernel's samples go on, and those
 * of the whole time are part of the overhead.
 *
 * A thread of the agent does this, and sleeps otherwise. After a thousand stretches the agent stays on.
 */
#ifndef PHASEMUX_AGENT_CORE_TOGGLE_H
#define PHASEMUX_AGENT_CORE_TOGGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/report/slowdown.h"

/*
 * Starts to turn the agent on and off, in stretches of `ns`; 0: never. Call once hooks are set, in a process
 * with MPI. If this is not possible, one line says so, and the agent stays on.
 */
void toggle_start(double ns);

/* Turns the agent on for good. A thread that ends or aborts the run calls it before it ends its burst. */
void toggle_stop(void);

/* Sets *slowdown to what was measured. Returns false if the agent was never off. Call after toggle_stop. */
bool toggle_slowdown(struct slowdown *slowdown);

/* Returns this process' stretches in order, which are never freed; NULL if the agent was never off. */
const struct stretch *toggle_stretches(unsigned *count);

/* Returns the bytes of memory that this takes in this process. */
size_t toggle_bytes(void);

#endif
