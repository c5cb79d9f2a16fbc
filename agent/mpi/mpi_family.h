/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The families of MPI libraries. Those of a family have one binary interface (mpi_abi.h), and one adapter serves them
 * all. All adapters are always built.
 */
#ifndef PHASEMUX_AGENT_MPI_MPI_FAMILY_H
#define PHASEMUX_AGENT_MPI_MPI_FAMILY_H

#include <stdbool.h>

enum mpi_family {
	MPI_FAMILY_STANDARD, /* that of MPI 5's standard */
	MPI_FAMILY_OPENMPI,
	MPI_FAMILY_MPICH,
	MPI_FAMILIES, /* number of families; also: none of them */
};

struct mpi_family_row {
	const char *name; /* for people */
	const char *file; /* the adapter, in the folder of kin.h */
};
extern const struct mpi_family_row mpi_families[MPI_FAMILIES];

/* A symbol of Open MPI, in the library of MPI_Init or (since 6) in one that this needs. No other MPI has it. */
#define MPI_FAMILY_OPENMPI_SYMBOL "ompi_mpi_comm_world"

/*
 * Returns the family of the library that defines MPI_Init, from its soname ("" if it has none) and whether it or one
 * that it needs has MPI_FAMILY_OPENMPI_SYMBOL. Open MPI 1 has the soname of MPICH.
 */
enum mpi_family mpi_family_of(const char *soname, bool has_openmpi_symbol);

#endif
