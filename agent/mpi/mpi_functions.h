/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the MPI that runs, found when the adapter is opened. The adapter is linked with no MPI, so that the
 * program's one is called wherever it lies and however it was opened (RTLD_LOCAL, as Python does). Compiled once for
 * each binary interface (mpi_abi.h).
 */
#ifndef PHASEMUX_AGENT_MPI_MPI_FUNCTIONS_H
#define PHASEMUX_AGENT_MPI_MPI_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/mpi/mpi_abi.h"

/* pmpi.Comm_rank is PMPI_Comm_rank. */
struct mpi_functions {
#define MPI_FUNCTION(result, name, arguments, ...) result(*name) arguments;
#include "agent/mpi/mpi_functions.def"
	ABI_FUNCTIONS(MPI_FUNCTION)
#undef MPI_FUNCTION
	int (*end)(void); /* NULL */
};
extern struct mpi_functions pmpi;

/* Addresses of symbols, which are values of constants. */
struct abi_symbols {
#define ABI_SYMBOL(name, needed) void *name;
	ABI_SYMBOLS(ABI_SYMBOL)
#undef ABI_SYMBOL
	void *end; /* NULL */
};
extern struct abi_symbols abi_symbols;

/*
 * Finds all of them in a library (dlopen) or in what it needs. Returns false if one is missing that the adapter needs,
 * and writes to `why` which one.
 */
bool mpi_functions_find(void *library, char *why, size_t why_size);

#endif
