/* SPDX-License-Identifier: BSD-3-Clause */
/* The files that a process has loaded, the program among them. These functions enter the loader. */
#ifndef PHASEMUX_AGENT_LOADER_MODULES_H
#define PHASEMUX_AGENT_LOADER_MODULES_H

#include <stdbool.h>
#include <stdint.h>

/* A loaded file. Addresses in [begin, end) are `base` above those in the file. */
struct module {
	uintptr_t base, begin, end;
	char path[512];
};

#define MODULES_MAX 256

/* Lists at most `max` files that are loaded now, the program first. Returns how many. Any thread may call it. */
unsigned modules_now(struct module *modules, unsigned max);

/* Returns whether both are the same file at the same addresses. */
bool modules_are_same(const struct module *a, const struct module *b);

/*
 * Lists at most `max` files that this process has loaded or has unloaded, without the addresses at which
 * several files have been. Returns how many.
 */
unsigned modules_ever(struct module *modules, unsigned max);

/*
 * Sets the function that lists unloaded files (agent/loader/unloaded.h). Call on one thread, before
 * modules_ever.
 */
void modules_remember(unsigned (*unloaded)(struct module *modules, unsigned max));

#endif
