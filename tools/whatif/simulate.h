/* SPDX-License-Identifier: BSD-3-Clause */
/* `phasemux whatif --simulate`: the run made again on a machine that SimGrid simulates, as it was and with changes. */
#ifndef PHASEMUX_TOOLS_WHATIF_SIMULATE_H
#define PHASEMUX_TOOLS_WHATIF_SIMULATE_H

#include "tools/whatif/simulation.h"

/*
 * Simulates the run at `path` (of its report), and prints what is foreseen on stdout. Returns the exit code: 0; 1: it failed;
 * 2: this run, or this change, cannot be simulated. What is wrong is one line on stderr.
 */
int simulate_run(const char *path, const struct run_times *run,
		const struct simulate_request *request);

#endif
