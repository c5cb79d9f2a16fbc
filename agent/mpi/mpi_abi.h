/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What mpi.h would say, in the binary interface for which the including file is compiled: ABI_OPENMPI, ABI_MPICH, or
 * else that of the standard. No MPI is needed to build phasemux. Besides the types and constants that the adapter
 * uses, each of the three headers defines
 *
 *  - ABI_SYMBOLS(X), the symbols whose addresses are values: X(name, needed);
 *  - ABI_FUNCTIONS(X), its functions besides those of mpi_functions.def: X(result, name, arguments, needed);
 *  - ABI_COMM_OF_FORTRAN and ABI_TYPE_OF_FORTRAN, from the number that Fortran has to the handle of C;
 *  - ABI_REQUEST_NULL_OF_FORTRAN, the number that Fortran has for MPI_REQUEST_NULL;
 *  - ABI_TYPE_IS_NAMED(type, parts): whether MPI itself defines the type. parts: an array of four int to work in. It may be
 *    false for some of them.
 */
#ifndef PHASEMUX_AGENT_MPI_MPI_ABI_H
#define PHASEMUX_AGENT_MPI_MPI_ABI_H

#if defined(ABI_OPENMPI)
#include "agent/mpi/abi_openmpi.h"
#elif defined(ABI_MPICH)
#include "agent/mpi/abi_mpich.h"
#else
#ifndef ABI_STANDARD
#define ABI_STANDARD
#endif
#include "agent/mpi/abi_standard.h"
#endif

#endif
