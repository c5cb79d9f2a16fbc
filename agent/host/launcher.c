/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/launcher.h"

#include <stdlib.h>

static const struct {
	const char *variable; /* holds the rank */
	bool of_mpi;
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", true },
	{ "PMIX_RANK", false },
	{ "PMI_RANK", true },
	{ "SLURM_PROCID", false },
};

int launcher_rank(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const char *rank = getenv(launchers[i].variable);

		if (rank && *rank)
			return atoi(rank);
	}
	return -1;
}

bool launcher_is_of_mpi(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++)
		if (launchers[i].of_mpi && getenv(launchers[i].variable))
			return true;
	return false;
}
