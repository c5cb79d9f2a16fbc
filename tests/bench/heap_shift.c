/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded: the program's heap begins HEAP_SHIFT bytes later. Where small arrays lie within a cache line is
 * the same in each run of a program, and may make half a percent (docs/measurements/programs.md); whoever
 * allocates a few bytes before it, as any preloaded library does, moves them all.
 */
#include <stdlib.h>

static void *volatile kept;

__attribute__((constructor)) static void begin(void)
{
	const char *bytes = getenv("HEAP_SHIFT");

	if (bytes)
		kept = malloc(strtoul(bytes, NULL, 10));
}
