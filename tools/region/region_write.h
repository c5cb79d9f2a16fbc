/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a region as traces of other tools. */
#ifndef PHASEMUX_TOOLS_REGION_REGION_WRITE_H
#define PHASEMUX_TOOLS_REGION_REGION_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "tools/region/region_names.h"
#include "tools/region/region_read.h"

struct region_trace {
	const struct region_run *run;
	struct region_names **names; /* of each rank of the run */
	const json_t *report;        /* of the run; NULL: there is none yet */
	const char *path;            /* the files' name without its ending */
};

/* Writes PATH.prv, PATH.pcf and PATH.row (thesis A.2.3). Returns false with one line in why. */
bool region_prv(const struct region_trace *trace, char *why, size_t why_size);

/* Writes PATH.perfetto-trace. Returns false with one line in why. */
bool region_perfetto(const struct region_trace *trace, char *why, size_t why_size);

#endif
