/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts to observe the first thread of this process from another one, while the program computes. */
#ifndef PHASEMUX_AGENT_PROCESS_FIRST_THREAD_H
#define PHASEMUX_AGENT_PROCESS_FIRST_THREAD_H

#include <sys/types.h>

#include "agent/boundary/preload.h"

/*
 * Starts to observe the first thread, given its kernel number and its slot. Its burst starts now, because it may make
 * no call for a long time. Does nothing if the thread cannot be observed. Call before hooks are set.
 */
void first_thread_observe(pid_t tid, struct preload_thread *slot);

#endif
