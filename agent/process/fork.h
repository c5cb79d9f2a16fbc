/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes that a program without MPI forks (agent/rounds/family.h). The child of a fork is not observed at
 * first. If the forking process had no other thread, the helper checks in the child whether it computes. The
 * child is observed once it has computed for a while.
 */
#ifndef PHASEMUX_AGENT_PROCESS_FORK_H
#define PHASEMUX_AGENT_PROCESS_FORK_H

/* Prepares for forks. Call once, in the first process. run: number of the run. Returns 0 or -ENOMEM. */
int fork_prepare(double run);

#endif
