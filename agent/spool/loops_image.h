/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the loops of a thread's calls that a process has left in its spool. They are untrusted. */
#ifndef PHASEMUX_AGENT_SPOOL_LOOPS_IMAGE_H
#define PHASEMUX_AGENT_SPOOL_LOOPS_IMAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "cluster/loops/arena.h"

/*
 * Makes `to`, which is all zeros, the text of `from` up to its last call, as loops_finish does. Calls whose number is
 * `symbols` (> 0) or above become 0. Returns false if calls cannot have made this text. Then `to` is of no use.
 */
bool loops_image_read(struct loops *to, const struct loops *from, uint32_t symbols);

#endif
