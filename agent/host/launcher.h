/* SPDX-License-Identifier: BSD-3-Clause */
/* What the environment says of the launcher that has started this process as a rank. */
#ifndef PHASEMUX_AGENT_HOST_LAUNCHER_H
#define PHASEMUX_AGENT_HOST_LAUNCHER_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the rank that a launcher has given to this process, before MPI starts; -1: none did. */
int launcher_rank(void);

/* Returns whether this process is the first rank on its host, or the first of all if the launcher does not say. */
bool launcher_is_first_here(void);

/* Returns whether the launcher is that of an MPI. Slurm and PMIx also start programs that never use MPI. */
bool launcher_is_of_mpi(void);

/* Writes "rank 4 on HOST: ", the start of a message that concerns one rank of several. */
void launcher_name_rank(int rank, char *name, size_t size);

#endif
