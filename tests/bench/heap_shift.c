/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves the start of the program's heap by HEAP_SHIFT bytes, if it is preloaded. The positions of small arrays
 * within a cache line are the same in each run of a program, and may make half a percent
 * (docs/measurements/programs.md). A library that allocates a few bytes before it, as any preloaded library
 * does, moves them all.
 */
#include <stdlib.h>

static void *volatile kept;

__attribute__((constructor)) static void begin(void)
{
	const char *bytes = getenv("HEAP_SHIFT");

	if (bytes)
		kept = malloc(strtoul(bytes, NULL, 10));
}
