/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Bounds the check before a replay by the structure of the calls. Ranks wait for each other between two rounds of their loops.
 * If all ranks are there, and the same messages and requests are open as at an earlier such time, and the calls since then
 * certainly come again with the same arguments, then the check would come through the same states again, and these rounds are left
 * out. Otherwise it goes through the next round. The time at which rounds are compared is that of Brent's algorithm
 * for cycles (Brent, section 2, docs/references.md).
 */
#ifndef PHASEMUX_TOOLS_REPLAY_REPETITION_H
#define PHASEMUX_TOOLS_REPLAY_REPETITION_H

#include "tools/replay/matching_state.h"

/* Sets check->repetition. Returns false without memory. */
bool repetition_new(struct check *check);

/* Says whether a rank, before its next call, is to wait until all ranks are between two rounds. */
bool repetition_holds(const struct check *check, long number);

/* Leaves out rounds that come again. All ranks are between two rounds, or have ended. */
void repetition_leave_out(struct check *check);

void repetition_free(struct check *check);

#endif
