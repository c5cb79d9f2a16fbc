/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes the group of a thread within a long burst. */
#ifndef PHASEMUX_AGENT_BURSTS_SWITCHING_H
#define PHASEMUX_AGENT_BURSTS_SWITCHING_H

#include <stdint.h>

#include "agent/thread/thread.h"

/*
 * Starts the next quantum within the burst under way, if that is long and its quantum is over. Call on another
 * thread. Never waits.
 */
void switching_look(struct thread *thread, const struct thread_rules *rules, uint64_t now);

#endif
