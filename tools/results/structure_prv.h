/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the calls of the ranks as a Paraver trace (thesis A.2.3), from the structure of the calls in a stored report. */
#ifndef PHASEMUX_TOOLS_RESULTS_STRUCTURE_PRV_H
#define PHASEMUX_TOOLS_RESULTS_STRUCTURE_PRV_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Writes NAME.prv, NAME.pcf and NAME.row. path: NAME, with or without ".prv". rank: only the calls of this rank; -1: of
 * all. A rank whose structure is not known has no records. Returns false with one line in why.
 */
bool structure_prv(const json_t *report, long rank, const char *path, char *why, size_t why_size);

#endif
