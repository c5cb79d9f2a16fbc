/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PHASEMUX_TOGGLE: phasemux turns itself off and on, on all ranks at the same moments, and finds out how
 * much slower the program is while it is on (slowdown.h). While it is off a call is what it is when
 * phasemux is disabled, and what happens is in no count: the report is of the time that was observed. The
 * kernel's samples go on; in the account of our own work they are those of all the time.
 *
 * A thread of ours does it, which sleeps else. After a thousand stretches it stays on.
 */
#ifndef PHASEMUX_AGENT_TOGGLE_H
#define PHASEMUX_AGENT_TOGGLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/slowdown.h"

/*
 * Once hooks are set, in a process with MPI: on and off for so many ns each. 0: never. Where it cannot be
 * done, one line says so, and phasemux stays on.
 */
void toggle_start(double ns);

/* It is on from now on. On a thread that ends or aborts the run, before its burst. */
void toggle_stop(void);

/* After toggle_stop: what was found. False: it always was on. */
bool toggle_slowdown(struct slowdown *slowdown);

/* From what: the stretches in order, of this process. They stay. NULL: it always was on. */
const struct stretch *toggle_stretches(unsigned *count);

/* Memory for it, in this process. */
size_t toggle_bytes(void);

#endif
