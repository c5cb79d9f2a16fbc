/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes whose only other thread is the agent's. The kernel refuses them some calls (a new user namespace), so the
 * agent's thread ends before such a call, and starts again after it.
 */
#ifndef PHASEMUX_AGENT_PROCESS_ALONE_H
#define PHASEMUX_AGENT_PROCESS_ALONE_H

#include <stdbool.h>

/* Notes how many threads the emulator has in this process. Call once, at the start. */
void alone_prepare(void);

/* Returns whether the program has no other thread than the calling one. False if it is not known. */
bool alone_is(void);

/*
 * Ends the helper's thread, and waits until the kernel does not count it any more. Returns whether there was one. Call on
 * the program's only thread.
 */
bool alone_leave(void);

/* The hooks leave_thread and return_thread (agent/boundary/preload.h). */
bool alone_leave_for_call(void);
void alone_return(void);

#endif
