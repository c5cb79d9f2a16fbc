/* SPDX-License-Identifier: BSD-3-Clause */
/* The counters and the processor of this machine, which the subcommands need first. */
#ifndef PHASEMUX_TOOLS_MACHINE_H
#define PHASEMUX_TOOLS_MACHINE_H

#include <stddef.h>

#include "sampling/pmu.h"
#include "sampling/processor.h"

struct machine {
	const struct pmu *pmu; /* the kernel's, or the one that PHASEMUX_PMU names */
	struct processor processor;
};

/* Fills machine. Returns 0, or -1 after one line on stderr. */
int machine_look(struct machine *machine);

/* Finds the folder of this command. Returns 0 or -errno. */
int machine_find_bin(char *folder, size_t size);

#define MACHINE_LIBRARY "libphasemux.so"

/*
 * Finds the path of the preload: in the folder of this command (a build tree), or in the folder to which it was
 * installed. Returns 0 or -errno.
 */
int machine_find_library(char *path, size_t size);

/* Finds the folder of what the preload opens (agent/boundary/kin.h). Returns 0 or -errno. */
int machine_find_kin(char *folder, size_t size);

/* Returns 0 if programs can run in the emulator, or 2 after one line on stderr. */
int machine_find_emulator(void);

#endif
