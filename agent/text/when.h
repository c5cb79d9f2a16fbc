/* SPDX-License-Identifier: BSD-3-Clause */
/* When in the run a phase is executed, from the report's timeline. */
#ifndef PHASEMUX_AGENT_TEXT_WHEN_H
#define PHASEMUX_AGENT_TEXT_WHEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * Writes in which part of the run the phase is executed. Returns false, and writes nothing, if it takes more than half of the
 * run, or if that is not known.
 */
bool phase_write_when(FILE *out, const json_t *report, const json_t *phase);

#endif
