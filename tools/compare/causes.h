/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a difference of time comes from. The time of a phase is work x CPI x length of a cycle, or without counters
 * number x duration of bursts. The difference of a product is divided into the parts of its factors by logarithmic
 * means (LMDI), so that the parts sum to the difference.
 */
#ifndef PHASEMUX_TOOLS_COMPARE_CAUSES_H
#define PHASEMUX_TOOLS_COMPARE_CAUSES_H

#include <jansson.h>
#include <stdbool.h>

#include "tools/compare/measure.h"
#include "tools/compare/run.h"

#define CAUSES_MAX (RUN_COMPONENTS_MAX + 16)

/* Parts of a difference, in seconds. Intervals are added, which is at most too wide. */
struct causes {
	unsigned count;
	struct cause {
		const char *cause, *component; /* component: NULL if it is none */
		double seconds, ci95;          /* ci95: NAN if not known */
	} at[CAUSES_MAX];
};

/* Adds a part. What is not known is left out. Strings must live as long as the causes. */
void causes_add(struct causes *causes, const char *cause, const char *component, double seconds,
		double ci95);

/*
 * Adds the parts of a phase's difference, and returns them as JSON. on_both: both sides have the phase. found: its
 * quantities. component: those of the CPI.
 */
json_t *causes_of_phase(struct causes *causes, bool on_both,
		const struct difference found[QUANTITIES], const struct difference *component,
		const struct component_names *names);

json_t *causes_json(const struct causes *causes);

#endif
