/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How far a program has come that still runs: the iterations of its loops of calls (cluster/loops/iteration.h), as its
 * processes on this host keep them beside their sums. They copy them there ten times in a second.
 */
#ifndef PHASEMUX_TOOLS_RUN_ITERATIONS_H
#define PHASEMUX_TOOLS_RUN_ITERATIONS_H

#include <stdbool.h>
#include <stdint.h>

struct iterations {
	bool known;     /* some process repeats a loop of calls that has half of its time */
	uint64_t least; /* executed by each process that repeats one */
};

/* Looks at the processes that keep their sums in a folder of PHASEMUX_SPOOL. Without memory, nothing is known. */
void iterations_look(const char *folder, struct iterations *iterations);

#endif
