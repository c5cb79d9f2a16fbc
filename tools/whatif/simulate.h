/* SPDX-License-Identifier: BSD-3-Clause */
/* `phasemux whatif --simulate`: the run made again on a machine that SimGrid simulates, as it was and with a change. */
#ifndef PHASEMUX_TOOLS_WHATIF_SIMULATE_H
#define PHASEMUX_TOOLS_WHATIF_SIMULATE_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/whatif/request.h"
#include "agent/whatif/run_times.h"

struct simulate_network {
	double latency, bandwidth;             /* of the network as it is; 0: a usual one */
	double latency_times, bandwidth_times; /* the change of it; 1: none */
	size_t ranks_per_node;                 /* 0: as in the run */
};

struct simulate_request {
	const struct request *requests; /* the changes of the program, which are made together */
	size_t count;
	struct simulate_network network;
	bool json;
	const char *output; /* folder for the files of the simulation; NULL: `replay` in that of the result */
};

/*
 * Simulates the run at `path` (of its report), and prints what is foreseen on stdout. Returns the exit code: 0; 1: it failed;
 * 2: this run, or this change, cannot be simulated. What is wrong is one line on stderr.
 */
int simulate_run(const char *path, const struct run_times *run,
		const struct simulate_request *request);

#endif
