/* SPDX-License-Identifier: BSD-3-Clause */
/* A simulation: what is asked for, and what it has found, which is shown in words and tables, and as JSON. */
#ifndef PHASEMUX_TOOLS_WHATIF_SIMULATION_H
#define PHASEMUX_TOOLS_WHATIF_SIMULATION_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "agent/whatif/request.h"
#include "agent/whatif/run_times.h"
#include "tools/replay/outcome.h"
#include "tools/replay/plan/plan.h"
#include "tools/whatif/platform.h"
#include "tools/whatif/scenario.h"

/* File in the folder of the simulation with what `--json` prints. */
#define SIMULATE_FILE "simulation.json"

struct simulate_network {
	double latency, bandwidth;             /* of the network as it is; 0: a usual one */
	double latency_times, bandwidth_times; /* the change of it; 1: none */
	size_t ranks_per_node;                 /* 0: as in the run */
};

struct simulate_request {
	const struct request *requests; /* the changes of the program, alone and together */
	size_t count;
	struct simulate_network network;
	bool surface; /* of processor speed x bandwidth */
	bool json;
	bool whole; /* all rounds, of runs of any length */
	const char *output; /* folder for the files of the simulation; NULL: `replay` in that of the result */
};

/*
 * Times for processors and networks that are 1, 2, 4, ... times as fast, as in chapter 9.2.2 of the thesis
 * (docs/references.md), "Use of different hardware".
 */
#define SURFACE_STEPS 7
struct surface {
	bool known;
	double seconds[SURFACE_STEPS][SURFACE_STEPS]; /* [bandwidth][processor] */
};

/* Returns how many times as fast the processor, or the network, of a step is. */
static inline double surface_times(size_t step)
{
	return (double)(1u << step);
}

struct simulation {
	const struct run_times *run;
	const struct simulate_request *request;
	struct platform platform;
	bool network_known, memory_known; /* asked for, or measured (calibrate.h) */
	struct plan *plan;
	struct outcome outcome;
	size_t window;    /* calls of a rank in a row that are simulated of long loops; 0: all */
	double simulated; /* number of calls */
	struct trials nominal;
	struct scenarios scenarios;
	struct surface surface;
};

void simulation_text(const struct simulation *simulation, FILE *out);

/* Returns the JSON, or NULL without memory. */
json_t *simulation_json(const struct simulation *simulation);

/* Returns a call of the structure that has this path, or NULL if there is none. */
const json_t *simulation_call(const struct simulation *simulation, size_t path);

#endif
