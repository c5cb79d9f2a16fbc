/* SPDX-License-Identifier: BSD-3-Clause */
/* The report's part on the structure of the calls (agent/structures/structures.h). */
#ifndef PHASEMUX_AGENT_REPORT_PARTS_STRUCTURE_H
#define PHASEMUX_AGENT_REPORT_PARTS_STRUCTURE_H

#include <jansson.h>
#include <stdbool.h>

#include "agent/ranks/iteration_spread.h"
#include "agent/report/parts/places.h"
#include "agent/structures/argument_table.h"
#include "agent/structures/structures.h"
#include "cluster/prototypes.h"

struct structure_facts {
	const struct structures *structures;
	const struct argument_table *arguments; /* NULL: not known */
	const struct prototype_table *table;
	const unsigned *phase_number; /* by the table's phases from 1, the number of each in the report, or 0 */
	const struct iteration_spread *iterations; /* of all ranks; NULL: not known */
};

/* Returns the report's "structure", which the caller owns, or NULL without memory. */
json_t *structure_json(const struct structure_facts *facts, struct places *places);

/* The iterations of a program whose ranks have one structure. */
struct structure_iterations {
	double rounds;  /* of a rank, in the mean; NAN: not known */
	double outside; /* share of the computing time that is not in them */
	bool equal;     /* all ranks have as many */
};

/*
 * Returns the iterations. They are not known if the ranks have several structures, if more than a hundredth of the calls were
 * not observed, or if the iteration consists of loops at several places. structures: NULL: not known.
 */
struct structure_iterations structure_iterations(const struct structures *structures);

#endif
