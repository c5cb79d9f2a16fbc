/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a process gets into the emulator: QEMU's user mode (qemu-x86_64), with the plugin that lies beside the
 * preload. The process becomes QEMU by exec, which keeps its number, its parent and its open files.
 */
#ifndef PHASEMUX_SAMPLING_EMULATED_EMULATOR_H
#define PHASEMUX_SAMPLING_EMULATED_EMULATOR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define EMULATOR_PLUGIN "libphasemux-emulator.so"
/* about how many times slower a program is, as docs/emulated.md has it measured */
#define EMULATOR_SLOWDOWN "20 to 150"

struct emulator {
	char qemu[PATH_MAX], plugin[PATH_MAX];
};

/*
 * Finds QEMU in PATH, and the plugin in `folder`. Returns 0, or -ENOENT with one line in
 * `why`: what is missing, and what to install.
 */
int emulator_find(struct emulator *emulator, const char *folder, char *why, size_t why_size);

/* Runs a program of one instruction in the emulator. Returns 0, or -ENOTSUP with one line in `why`. */
int emulator_try(const struct emulator *emulator, char *why, size_t why_size);

/*
 * Makes this process, which runs `path` natively, start again in the emulator with a core model. sizes: count also what
 * its last cache would miss with other sizes. Returns -errno if that is impossible, and else does not return. Call before
 * the program runs, because it starts anew.
 */
int emulator_enter(const struct emulator *emulator, const char *core, bool sizes);

/*
 * Returns the descriptor of the counts (emulated_counts.h), or -ENOENT if this process is not in the emulator.
 */
int emulator_counts(void);

/* Returns the number of threads of its own that the emulator has in this process; 0: it is not in the emulator. */
unsigned emulator_threads(void);

#endif
