/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares runs of which at least one is a table of bursts, as `phasemux cluster` writes it. Such a table has no
 * intervals and no wall time, so only phases are matched, by their behaviour.
 */
#ifndef PHASEMUX_TOOLS_COMPARE_TABLES_H
#define PHASEMUX_TOOLS_COMPARE_TABLES_H

#include <stdbool.h>
#include <stddef.h>

/* Returns whether the file, or what a folder has instead of a report, is a table of bursts. */
bool tables_has(const char *path);

/* Compares each run with the one before, and prints that. Returns the exit code. */
int tables_compare(char *const *paths, size_t count);

#endif
