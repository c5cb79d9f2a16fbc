/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Who else may hold counters of this machine: the kernel's NMI watchdog, and processes that have
 * perf events open.
 */
#ifndef PHASEMUX_SAMPLING_HOLDERS_H
#define PHASEMUX_SAMPLING_HOLDERS_H

#include <stdbool.h>
#include <sys/types.h>

struct holder {
	pid_t pid;
	char name[32];        /* of the program, as /proc has it */
	unsigned descriptors; /* of perf events: one may hold a whole group */
};

/* Does the kernel's watchdog count cycles on every processor? False where that is not known. */
bool holders_watchdog(void);

/*
 * Fills holders[0 .. max) with other processes that have perf events open, those with most first,
 * and returns how many there are in all. Sees this user's processes only, or all as root.
 * proc is "/proc". It takes milliseconds: it reads the links of every descriptor.
 */
unsigned holders_find(const char *proc, struct holder *holders, unsigned max);

#endif
