/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the calls and the phases of a region for people. */
#ifndef PHASEMUX_TOOLS_REGION_REGION_NAMES_H
#define PHASEMUX_TOOLS_REGION_REGION_NAMES_H

#include <jansson.h>
#include <stdint.h>

#include "tools/region/region_read.h"

/* A place of the program. Empty texts if it is not known. */
struct region_place {
	char function[256], position[300];
};

#define REGION_LEVELS 2 /* of callers that are named */

struct region_label {
	const char *call; /* "MPI_Send" */
	struct region_place caller[REGION_LEVELS];
};

struct region_names;

/* Returns names of a rank's sites, or NULL without memory. The files of the program are opened. */
struct region_names *region_names_new(const struct region_rank *rank);
void region_names_free(struct region_names *names);

/* Returns the label of a site. It is valid until the names are freed. */
const struct region_label *region_names_label(struct region_names *names, unsigned site);

/*
 * Returns the phase of a call's burst; 0: none. report: numbers phases as the report of the run does; NULL: as the run did
 * when the region ended.
 */
unsigned region_phase(const struct region_rank *rank, const struct region_call *call,
		const json_t *report);

#endif
