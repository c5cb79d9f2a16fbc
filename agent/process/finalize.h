/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a run. The sums of all ranks are added, and rank 0 makes the report of them. */
#ifndef PHASEMUX_AGENT_PROCESS_FINALIZE_H
#define PHASEMUX_AGENT_PROCESS_FINALIZE_H

#include "agent/boundary/preload.h"

/* Implements preload_hooks.finalize. */
void finalize_hook(struct preload_thread *slot, void *site, const void *frame);

/* Implements preload_hooks.leave. */
void finalize_leave(struct preload_thread *slot, void *site, const void *frame);

/*
 * Keeps what all threads have done, because the process ends. Call on the helper, while the last thread waits.
 */
void finalize_keep(void);

#endif
