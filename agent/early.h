/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a process of a job prepares before its main begins, and one without a launcher before its
 * MPI_Init. Some of what the core needs is free while a process has one thread, and costs it a grace
 * period of the kernel (5 to 20 ms) once it has more; an MPI library starts its threads in MPI_Init,
 * before we come.
 */
#ifndef PHASEMUX_AGENT_EARLY_H
#define PHASEMUX_AGENT_EARLY_H

/* Is this process one that a launcher started as a rank, by what it says in the environment? */
int early_is_rank(void);

/* Takes some microseconds; leaves no descriptor open. */
void early_prepare(void);

/*
 * Wakes the kernel's counters while MPI_Init works, and keeps them awake: the first event of a thread
 * on a node where there is none waits for a grace period of the kernel too. Once; holds a descriptor.
 */
void early_wake_counters(void);

/* Counters are open, or will not be: closes that descriptor. */
void early_release_counters(void);

#endif
