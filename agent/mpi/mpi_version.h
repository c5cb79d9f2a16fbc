/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI library that runs, by the name that it gives itself. Compiled once for each binary interface (mpi_abi.h). */
#ifndef PHASEMUX_AGENT_MPI_MPI_VERSION_H
#define PHASEMUX_AGENT_MPI_MPI_VERSION_H

#include <stdbool.h>
#include <stddef.h>

/* Writes its name and version: "Open MPI v4.1.4", "MPICH Version 4.0.2". MPI need not be initialised. */
void mpi_version_name(char *name, size_t size);

/* Returns false if this library is known to have other values than the adapter, and writes the reason to `why`. */
bool mpi_version_is_served(char *why, size_t why_size);

/*
 * Returns whether the library calls itself MPICH, also behind the standard's interface. Its launcher then keeps names
 * (MPI_Publish_name) as a rule.
 */
bool mpi_version_is_mpich(void);

#endif
