/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preparations that a rank makes before its main starts, or in MPI_Init if no launcher has started it. Some of
 * them cost nothing while a process has one thread, and a grace period of the kernel (5 to 20 ms) once it has
 * more. An MPI library starts its threads in MPI_Init, before the core is opened.
 */
#ifndef PHASEMUX_AGENT_PRELOAD_PRESTART_H
#define PHASEMUX_AGENT_PRELOAD_PRESTART_H

/* Prepares descriptors and barriers. Takes some microseconds, and leaves no descriptor open. */
void prestart_prepare(void);

/*
 * Wakes the kernel's counters while MPI_Init works, and keeps them awake. Otherwise the first event of a
 * thread, if the node has no other event, waits for a grace period of the kernel. Holds a descriptor. Later
 * calls do nothing.
 */
void prestart_wake_counters(void);

/* Closes the descriptor of prestart_wake_counters(). Call when counters are open, or will not be opened. */
void prestart_release_counters(void);

#endif
