/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/launcher.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "sampling/decimal.h"

static const struct {
	const char *variable; /* holds the rank */
	bool of_mpi;
	const char *local; /* holds the rank among those of this host; NULL: none does */
	const char *step; /* holds the number of the step that has the rank; NULL: the rank needs none */
} launchers[] = {
	{ "OMPI_COMM_WORLD_RANK", true, "OMPI_COMM_WORLD_LOCAL_RANK", NULL },
	{ "PMIX_RANK", false, NULL, NULL },
	{ "PMI_RANK", true, "MPI_LOCALRANKID", NULL },
	{ "SLURM_PROCID", false, "SLURM_LOCALID", "SLURM_STEP_ID" },
};

/*
 * Returns whether a variable holds the number of a step. For a batch script and the shell of salloc, which are rank 0 as
 * well, Slurm sets none, or one that is larger than INT_MAX.
 */
static bool is_step(const char *variable)
{
	const char *step = getenv(variable);

	return step && *step && decimal_read(step) < INT_MAX;
}

int launcher_rank(void)
{
	for (size_t i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
		const char *rank = getenv(launchers[i].variable);

		if (rank && *rank && (!launchers[i].step || is_step(launchers[i].step)))
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
