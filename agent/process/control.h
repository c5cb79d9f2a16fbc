/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The program's own control of what is observed, as users of mpiP, Extrae and Darshan know it. MPI_Pcontrol(0)
 * pauses the agent in the calling process, and MPI_Pcontrol(1) resumes it. With PHASEMUX_START=paused a process
 * starts paused. While it is paused, calls are as when phasemux is disabled, and nothing is counted.
 * MPI_Pcontrol(2) keeps what is known in the spool. Rank 0 then also writes an intermediate report of what the
 * ranks of its node have kept until then. No rank waits for another. Other levels change nothing.
 */
#ifndef PHASEMUX_AGENT_PROCESS_CONTROL_H
#define PHASEMUX_AGENT_PROCESS_CONTROL_H

#include <stdbool.h>

/* Pauses the agent if PHASEMUX_START asks for it. Call once the thread that called MPI_Init is observed. */
void control_start(void);

/* Does what MPI_Pcontrol(level) asks for. */
void control_level(int level);

/*
 * Ends a pause, so that it is left out of the run. A thread that ends or aborts the run calls it before its
 * burst.
 */
void control_stop(void);

/* Returns whether the process is paused now. */
bool control_is_paused(void);

/* Returns whether the process has ever been paused. */
bool control_was_paused(void);

#endif
