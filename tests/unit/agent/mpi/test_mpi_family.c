/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which adapter serves which MPI library. */
#include "agent/mpi/mpi_family.h"
#include "tests/tap.h"

int main(void)
{
	static const struct {
		const char *soname;
		bool has_openmpi_symbol;
		enum mpi_family family;
	} cases[] = {
		{ "libmpi.so.40", true, MPI_FAMILY_OPENMPI },
		{ "libmpi.so.12", true, MPI_FAMILY_OPENMPI }, /* Open MPI 1.10 */
		{ "", true, MPI_FAMILY_OPENMPI },             /* linked statically */
		{ "libmpi_abi.so.1", false, MPI_FAMILY_STANDARD },
		{ "libmpi_abi.so.1", true,
				MPI_FAMILY_STANDARD }, /* it needs Open MPI's own library */
		{ "libmpi_abi.so.0", false, MPI_FAMILY_STANDARD },
		{ "libmpi.so.12", false, MPI_FAMILY_MPICH },
		{ "libmpich.so.12", false, MPI_FAMILY_MPICH },
		{ "libmpi_gnu_91.so.12", false, MPI_FAMILY_MPICH },
		{ "libmpi_gnu_123.so.12", false, MPI_FAMILY_MPICH },
		{ "libmpi_cray.so.12", false, MPI_FAMILY_MPICH },
		{ "libmpi_nvidia.so.12", false, MPI_FAMILY_MPICH },
		{ "libmpi_intel19.so.12", false, MPI_FAMILY_MPICH },
		{ "", false, MPI_FAMILIES },
		{ "libmpi.so.40", false, MPI_FAMILIES },
		{ "libmpi.so.1", false, MPI_FAMILIES },
		{ "libmpich.so.10", false, MPI_FAMILIES }, /* MPICH 3.0 */
		{ "libmpi.so.120", false, MPI_FAMILIES },
		{ "libmpi_.so.12", false, MPI_FAMILIES },
		{ "libmpi_123.so.12", false, MPI_FAMILIES },
		{ "libmpifort.so.12", false, MPI_FAMILIES },
		{ "libsmpi.so.12", false, MPI_FAMILIES },
		{ "libmpi_abi", false, MPI_FAMILIES },
	};

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		ok(mpi_family_of(cases[i].soname, cases[i].has_openmpi_symbol) == cases[i].family,
				"'%s'%s", cases[i].soname,
				cases[i].has_openmpi_symbol ? " with Open MPI's symbol" : "");
	return tap_done();
}
