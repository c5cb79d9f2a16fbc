/* SPDX-License-Identifier: BSD-3-Clause */
/* With PHASEMUX_COUNTERS=emulated: puts a process that will be a target into the emulator, before it runs. */
#ifndef PHASEMUX_AGENT_PRELOAD_EMULATE_H
#define PHASEMUX_AGENT_PRELOAD_EMULATE_H

#include <stdbool.h>

/*
 * Starts the process again in the emulator, and does not return, if the setting asks for that and the process is
 * not there yet. It must be a program with MPI, or the command of `phasemux run` itself. Launchers and shells stay
 * as they are. If the emulator is not available, one line on stderr says so, and the program runs on
 * natively. Call in the preload's constructor.
 */
void emulate(bool is_command);

/* Returns whether the setting asks for the emulator, and this process is not in it. */
bool emulate_is_missing(void);

#endif
