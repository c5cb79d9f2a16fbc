/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI libraries of this machine, by the names of files. They are looked for where the loader looks for libraries
 * (LD_LIBRARY_PATH, the system's folders), and beside each mpirun, mpiexec and mpicc in PATH. None is opened.
 */
#ifndef PHASEMUX_TOOLS_DOCTOR_MPIS_H
#define PHASEMUX_TOOLS_DOCTOR_MPIS_H

#include <limits.h>

#include "agent/mpi/mpi_family.h"

struct mpi_found {
	unsigned count;      /* number of libraries; a file with several names is one */
	char path[PATH_MAX]; /* of the first */
};

/* Fills an element for each family. */
void mpis_find(struct mpi_found found[MPI_FAMILIES]);

#endif
