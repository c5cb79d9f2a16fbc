/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the plan of a replay (plan.h) from a report whose run kept the arguments of its calls. */
#ifndef PHASEMUX_TOOLS_REPLAY_PLAN_WRITE_H
#define PHASEMUX_TOOLS_REPLAY_PLAN_WRITE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes the plan. Returns false with one line in `why` if the report does not have what a replay needs. */
bool plan_write(const json_t *report, FILE *out, char *why, size_t why_size);

#endif
