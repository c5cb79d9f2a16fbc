/* SPDX-License-Identifier: BSD-3-Clause */
/* This file is compiled once for each binary interface. */
#include "agent/mpi/mpi_functions.h"

#include <dlfcn.h>
#include <stdio.h>

struct mpi_functions pmpi;
struct abi_symbols abi_symbols;

static const struct wanted {
	const char *symbol;
	void *address; /* of the pointer to it */
	bool needed;
	bool is_value;
} wanted[] = {
#define MPI_FUNCTION(result, name, arguments) { "PMPI_" #name, &pmpi.name, true, false },
#include "agent/mpi/mpi_functions.def"
#undef MPI_FUNCTION
#define MPI_FUNCTION(result, name, arguments, needed) { "PMPI_" #name, &pmpi.name, needed, false },
	ABI_FUNCTIONS(MPI_FUNCTION)
#undef MPI_FUNCTION
#define ABI_SYMBOL(name, needed) { #name, &abi_symbols.name, needed, true },
			ABI_SYMBOLS(ABI_SYMBOL)
#undef ABI_SYMBOL
};

/*
 * Returns the address of a function in the library, or of a value to which the library itself is bound. The program may
 * have its own copy of a variable (a copy relocation), which the library then uses, too; the one in the library is
 * never initialised.
 */
static void *function_find(void *library, const struct wanted *symbol)
{
	void *found = symbol->is_value ? dlsym(RTLD_DEFAULT, symbol->symbol) : NULL;

	return found ? found : dlsym(library, symbol->symbol);
}

bool mpi_functions_find(void *library, char *why, size_t why_size)
{
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		void *found = function_find(library, &wanted[i]);

		if (!found && wanted[i].needed) {
			snprintf(why, why_size, "its MPI has no %s", wanted[i].symbol);
			return false;
		}
		*(void **)wanted[i].address = found;
	}
	return true;
}
