/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes this process a target: opens the core, once, and ends the run with the process. MPI_Init does so, or
 * without MPI the start of a program that `phasemux run` has started. In all other processes the preload does
 * nothing.
 */
#ifndef PHASEMUX_AGENT_PRELOAD_TARGET_H
#define PHASEMUX_AGENT_PRELOAD_TARGET_H

#include <stdbool.h>
#include <stddef.h>

#include "agent/boundary/preload.h"

/* The MPI that a process has when it becomes a target. */
enum wrap_with {
	WITH_NOTHING,  /* no MPI */
	WITH_MPI,      /* MPI is initialised, and MPI_COMM_WORLD exists */
	WITH_SESSIONS, /* MPI without MPI_COMM_WORLD; each rank is alone */
};

/* Returns whether the user has disabled the agent (PHASEMUX_DISABLE). */
bool target_is_disabled(void);

/* Notes the time, and makes the preparations of prestart.h. Call in a rank, before MPI_Init does its work. */
void target_prepare(void);

/* Notes when the process began to become a target. Call before target_attach, except without MPI. */
void target_begin(void);

/* Finds the folder of what the preload opens (kin.h). Returns false if it is not known, or longer than `size`. */
bool target_folder(char *folder, size_t size);

/*
 * Opens the core. Later calls do nothing. If it cannot be opened, the program runs on as without the agent. `init`: the
 * real call that has initialised MPI, WITH_MPI.
 */
void target_attach(enum wrap_with with, const void *init);

/*
 * Makes the process a target once it computes (agent/candidate), unless it becomes one before. Call on the first thread, in
 * the constructor. Does nothing with MPI.
 */
void target_wait(void);

/* Returns the hooks that the core has set, paused or not; NULL: the process is no target. */
const struct preload_hooks *target_hooks(void);

/*
 * Returns the hooks that the core has set last, also if they are not set any more, as in the child of a fork; NULL: the
 * process was no target. Their functions for the agent's own thread may still be called.
 */
const struct preload_hooks *target_hooks_ever(void);

/*
 * Makes the process a target when an OpenMP region starts. Call in a process that the command of `phasemux run`
 * has started. Does nothing on other threads than the main one: to open the core waits for the loader's lock,
 * which the main thread may hold in a dlopen while it waits for the calling thread.
 */
void target_first_region(void);

/* Returns whether an MPI library is loaded. If so, the process does not become a target before MPI_Init. */
bool target_has_mpi(void);

#endif
