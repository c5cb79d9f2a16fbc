/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What processes of a run have left in the folder of their spools: those of a family (agent/family.h), for the
 * one that ends last and makes the report of all, and ranks, for a report while they run.
 */
#ifndef PHASEMUX_AGENT_GATHER_H
#define PHASEMUX_AGENT_GATHER_H

#include "agent/recovery.h"

/*
 * Reads what is in the folder, but for the process of that rank; what cannot be read, or is of
 * another run, is left out. NULL without memory.
 */
struct recovery *gather_read(const char *folder, int but);

/* Reads what all ranks of this node have left in the folder up to now. NULL without memory. */
struct recovery *gather_ranks(const char *folder);

/* Removes it, but for the file of that rank. */
void gather_remove(const char *folder, int but);

#endif
