/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/mpi/mpi_family.h"

#include <ctype.h>
#include <string.h>

const struct mpi_family_row mpi_families[MPI_FAMILIES] = {
	[MPI_FAMILY_STANDARD] = { "the ABI of MPI 5 (libmpi_abi)", "libphasemux-mpi-abi.so" },
	[MPI_FAMILY_OPENMPI] = { "Open MPI", "libphasemux-openmpi.so" },
	[MPI_FAMILY_MPICH] = { "MPICH and its kin (of Intel, MVAPICH, Cray)",
			"libphasemux-mpich.so" },
};

/* Returns the text behind a prefix, or NULL. */
static const char *behind(const char *text, const char *prefix)
{
	size_t length = strlen(prefix);

	return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/*
 * libmpi.so.12; libmpich.so.12 on Debian; libmpi_gnu_123.so.12, libmpi_cray.so.12 and their kind of Cray, after the
 * compiler and its version
 */
static bool is_soname_of_mpich(const char *soname)
{
	const char *rest = behind(soname, "libmpi");

	if (!rest)
		return false;
	if (behind(rest, "ch")) {
		rest += 2;
	} else if (*rest == '_') {
		rest++;
		if (!islower((unsigned char)*rest))
			return false;
		while (islower((unsigned char)*rest))
			rest++;
		rest += *rest == '_';
		while (isdigit((unsigned char)*rest))
			rest++;
	}
	return strcmp(rest, ".so.12") == 0;
}

enum mpi_family mpi_family_of(const char *soname, bool has_openmpi_symbol)
{
	if (behind(soname, "libmpi_abi.so."))
		return MPI_FAMILY_STANDARD;
	if (has_openmpi_symbol)
		return MPI_FAMILY_OPENMPI;
	return is_soname_of_mpich(soname) ? MPI_FAMILY_MPICH : MPI_FAMILIES;
}
