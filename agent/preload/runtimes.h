/* SPDX-License-Identifier: BSD-3-Clause */
/* The runtimes among the loaded files. Their own threads and waits are not those of the program. */
#ifndef PHASEMUX_AGENT_PRELOAD_RUNTIMES_H
#define PHASEMUX_AGENT_PRELOAD_RUNTIMES_H

#include <stdbool.h>

/*
 * Notes which loaded files are runtimes. Call after MPI_Init, or when a process without MPI becomes a target.
 */
void runtimes_look(void);

/* Returns whether the code at `site` is in no runtime, so that it is the program's. */
bool runtimes_are_not_at(const void *site);

#endif
