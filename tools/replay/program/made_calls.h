/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the calls of a replay. It is part of the program that replays, and is not linked with the command. */
#ifndef PHASEMUX_TOOLS_REPLAY_PROGRAM_MADE_CALLS_H
#define PHASEMUX_TOOLS_REPLAY_PROGRAM_MADE_CALLS_H

#include <stdbool.h>

#include "tools/replay/plan/cursor.h"

/* Takes what calls need: memory, and the copies of MPI_COMM_WORLD in the mask. Returns false if there is no memory. */
bool made_calls_start(const struct plan *plan, unsigned copies);

/* Makes a call. Returns false, and has done nothing, if it needs an open request, or a message of MPI_Mprobe, and there is none. */
bool made_calls_make(const struct cursor_call *call);

/* Ends the requests that are open. Receives without a message are cancelled. */
void made_calls_end(void);

#endif
