/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the data that processes of a run have left in the folder of their spools. The process of a family
 * (agent/rounds/family.h) that ends last reads it and makes the report of all. Data of ranks is read for a
 * report while they run.
 */
#ifndef PHASEMUX_AGENT_RESULTS_SIBLINGS_H
#define PHASEMUX_AGENT_RESULTS_SIBLINGS_H

#include "agent/report/recovery.h"

/*
 * Reads all processes of a family in the folder, except the one of rank `but`. Skips files that cannot be read,
 * or belong to another run. Returns NULL without memory.
 */
struct recovery *siblings_read(const char *folder, int but);

/* Reads the data that all ranks of this node have left in the folder up to now. Returns NULL without memory. */
struct recovery *siblings_ranks(const char *folder);

/* Removes the files in the folder, except the one of rank `but`. */
void siblings_remove(const char *folder, int but);

#endif
