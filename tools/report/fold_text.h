/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows how a phase's counters evolve within it, from a stored report. */
#ifndef PHASEMUX_TOOLS_REPORT_FOLD_TEXT_H
#define PHASEMUX_TOOLS_REPORT_FOLD_TEXT_H

#include <jansson.h>

/* Returns the "fold" of the phase with this id, which the report owns. Returns NULL with one line in why. */
const json_t *fold_find(const json_t *report, int phase, char *why, size_t why_size);

/* Return a table, one line per counter, or CSV, one line per counter and place. The caller frees it. */
char *fold_text(const json_t *fold, int phase);
char *fold_csv(const json_t *fold);

#endif
