/* SPDX-License-Identifier: BSD-3-Clause */
/* This file is compiled once for each binary interface. */
#include "agent/mpi/mpi_version.h"

#include <stdio.h>
#include <string.h>

#include "agent/mpi/mpi_functions.h"

void mpi_version_name(char *name, size_t size)
{
	char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
	int length = 0;

	pmpi.Get_library_version(version, &length);
	/* "Open MPI v4.1.4, package: ...", "MPICH Version:      4.0.2\nMPICH Release date: ..." */
	version[strcspn(version, ",\n")] = '\0';
	snprintf(name, size, "%.100s", version);
	for (char *blank; (blank = strpbrk(name, "\t:"));)
		*blank = ' ';
	for (char *blanks; (blanks = strstr(name, "  "));)
		memmove(blanks, blanks + 1, strlen(blanks));
}

bool mpi_version_is_mpich(void)
{
#ifdef ABI_MPICH
	return true;
#else
	char name[128];

	mpi_version_name(name, sizeof(name));
	return strncmp(name, "MPICH ", 6) == 0;
#endif
}

#ifdef ABI_STANDARD
bool mpi_version_is_served(char *why, size_t why_size)
{
	int mpich, major = 1, minor = 0;
	char name[128];

	mpi_version_name(name, sizeof(name));
	if (sscanf(name, "MPICH Version %d", &mpich) == 1 && mpich < 5) {
		snprintf(why, why_size,
				"its MPI (%s) has a draft of MPI 5's binary interface, with other values",
				name);
		return false;
	}
	if (pmpi.Abi_get_version && pmpi.Abi_get_version(&major, &minor) == MPI_SUCCESS &&
			major != 1) {
		snprintf(why, why_size,
				"its MPI (%s) has version %d.%d of the binary interface, not 1",
				name, major, minor);
		return false;
	}
	return true;
}
#else
bool mpi_version_is_served(char *why, size_t why_size)
{
	(void)why;
	(void)why_size;
	return true;
}
#endif
