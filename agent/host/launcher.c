/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sampling/decimal.h"

static const struct {
	const char *variable; /* holds the rank */
	bool of_mpi;
	const char *local; /* holds the rank among those of this host; NULL: none does */
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", true, "OMPI_COMM_WORLD_LOCAL_RANK" },
	{ "PMIX_RANK", false, NULL },
	{ "PMI_RANK", true, "MPI_LOCALRANKID" },
	{ "SLURM_PROCID", false, "SLURM_LOCALID" },
};

int launcher_rank(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const char *rank = getenv(launchers[i].variable);

		if (rank && *rank)
			return decimal_read(rank);
	}
	return -1;
}

bool launcher_is_first_here(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const char *local = launchers[i].local ? getenv(launchers[i].local) : NULL;

		if (local && *local)
			return decimal_read(local) == 0;
	}
	return launcher_rank() <= 0;
}

bool launcher_is_of_mpi(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
		if (launchers[i].of_mpi && getenv(launchers[i].variable))
			return true;
	return false;
}

void launcher_name_rank(int rank, char *name, size_t size)
{
	char host[256];

	if (gethostname(host, sizeof(host)))
		host[0] = '\0';
	host[sizeof(host) - 1] = '\0';
	snprintf(name, size, "rank %d on %s: ", rank, host[0] ? host : "an unknown host");
}
