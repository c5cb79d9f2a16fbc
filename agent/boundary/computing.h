/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process that is observed once it computes: it has used some processor time. A thread of the agent looks at that
 * time again and again, in pauses that grow.
 */
#ifndef PHASEMUX_AGENT_BOUNDARY_COMPUTING_H
#define PHASEMUX_AGENT_BOUNDARY_COMPUTING_H

#include <stdint.h>
#include <time.h>

#define COMPUTING_NS 50e6 /* processor time from which a process computes */

/* The first pause between two looks at that time, and the longest: each is twice the one before it. */
#define COMPUTING_PAUSE_FIRST_NS 10000000
#define COMPUTING_PAUSE_MAX_NS   80000000

/* Returns the processor time in ns that this process has used. A program that it becomes by exec inherits it. */
static inline double computing_used_ns(void)
{
	struct timespec used;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

/* Returns the pause in ns that follows one of `pause` ns. */
static inline uint64_t computing_next_pause(uint64_t pause)
{
	return pause < COMPUTING_PAUSE_MAX_NS ? 2 * pause : pause;
}

#endif
