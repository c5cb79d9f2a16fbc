/* SPDX-License-Identifier: BSD-3-Clause */
/* How a phase's counters evolve within it, from a stored report. */
#ifndef PHASEMUX_TOOLS_FOLD_TEXT_H
#define PHASEMUX_TOOLS_FOLD_TEXT_H

#include <jansson.h>

/* The report's "fold" of the phase with that id, which the report owns; NULL: one line in why. */
const json_t *fold_find(const json_t *report, int phase, char *why, size_t why_size);

/* A table, one line per counter; or comma separated, one line per counter and place. To be freed. */
char *fold_text(const json_t *fold, int phase);
char *fold_csv(const json_t *fold);

#endif
