/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What other processes of a family (agent/family.h) have left in the folder of their spools, for the
 * one that ends last and makes the report of all.
 */
#ifndef PHASEMUX_AGENT_GATHER_H
#define PHASEMUX_AGENT_GATHER_H

#include "agent/recovery.h"

/*
 * Reads what is in the folder, but for the process of that rank; what cannot be read, or is of
 * another run, is left out. NULL without memory.
 */
struct recovery *gather_read(const char *folder, int but);

/* Removes it, but for the file of that rank. */
void gather_remove(const char *folder, int but);

#endif
