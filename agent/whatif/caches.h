/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `phasemux simulate` has left beside a result: how long its phases take if the last cache is of another size
 * (docs/simulate.md).
 */
#ifndef PHASEMUX_AGENT_WHATIF_CACHES_H
#define PHASEMUX_AGENT_WHATIF_CACHES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define CACHES_FOLDER  "caches"      /* in the folder of the result */
#define CACHES_FILE    "caches.json" /* in CACHES_FOLDER */
#define CACHES_VERSION 1             /* its key phasemux_caches */

/* How long a phase takes, as a multiple of its time. */
struct caches_factor {
	double value;
	double error; /* half-width of the 95% interval */
};

/*
 * Loads what was simulated for the report in the file `path`. Returns NULL, with one line in `why`, if nothing was
 * simulated, or it was for another report.
 */
json_t *caches_load(const char *path, const json_t *report, char *why, size_t why_size);

/* Returns what was simulated of a phase of the document with a last cache `times` as large, or NULL. */
const json_t *caches_size(const json_t *phase, double times);

/* Finds how long a phase takes if its last cache is `times` as large. Returns false if that was not simulated. */
bool caches_find(const json_t *caches, double phase, double times, struct caches_factor *factor);

/* Lists the sizes that were simulated as multiples, "0.5, 2, 4". caches: NULL: none. */
void caches_list_times(const json_t *caches, char *list, size_t size);

#endif
