/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the shared objects lie that the preload and the command open: the core, an adapter for each MPI, the reader of
 * debug information and the emulator's plugin.
 */
#ifndef PHASEMUX_AGENT_BOUNDARY_KIN_H
#define PHASEMUX_AGENT_BOUNDARY_KIN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Takes the folder of the preload, and leaves that of the other shared objects there: its subfolder phasemux (an
 * installed tree) if the core is in it, else the folder of the preload (a build tree). Returns false if its name
 * needs more than `size` bytes.
 */
bool kin_folder(char *folder, size_t size);

#endif
