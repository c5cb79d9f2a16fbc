/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other users that may hold counters of this machine: the kernel's NMI watchdog, and processes that
 * have perf events open.
 */
#ifndef PHASEMUX_TOOLS_DOCTOR_HOLDERS_H
#define PHASEMUX_TOOLS_DOCTOR_HOLDERS_H

#include <stdbool.h>
#include <sys/types.h>

struct holder {
	pid_t pid;
	char name[32];        /* of the program, from /proc */
	unsigned descriptors; /* number of perf events; one may hold a whole group */
};

/* Returns whether the kernel's watchdog counts cycles on every processor; false if that is not known. */
bool holders_watchdog(void);

/*
 * Fills holders[0 .. max) with other processes that have perf events open, those with most first,
 * and returns how many there are in all. Sees only this user's processes, or all as root.
 * proc is "/proc". Takes milliseconds, because it reads the links of every descriptor.
 */
unsigned holders_find(const char *proc, struct holder *holders, unsigned max);

#endif
