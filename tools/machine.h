/* SPDX-License-Identifier: BSD-3-Clause */
/* What the subcommands ask of the machine first: which counters, and which processor. */
#ifndef PHASEMUX_TOOLS_MACHINE_H
#define PHASEMUX_TOOLS_MACHINE_H

#include <stddef.h>

#include "sampling/pmu.h"
#include "sampling/processor.h"

struct machine {
	const struct pmu *pmu; /* the kernel's, or that of PHASEMUX_PMU */
	struct processor processor;
};

/* 0, or -1 after one line on stderr. */
int machine_look(struct machine *machine);

#define MACHINE_LIBRARY "libphasemux.so"

/*
 * The path of the preload: beside this command (a build tree), or in the folder that it was
 * installed to. 0 or -errno.
 */
int machine_find_library(char *path, size_t size);

#endif
