/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Remembers the files that the program has unloaded while it was observed. Places are named at the end of a
 * run, when another file may be at an address than the one that ran there. Any thread may call these functions,
 * but not within an intercepted call other than dlclose.
 */
#ifndef PHASEMUX_AGENT_LOADER_UNLOADED_H
#define PHASEMUX_AGENT_LOADER_UNLOADED_H

#include "agent/loader/modules.h"

/* Returns a list of the loaded files, for unloaded_note, or NULL without memory. Call before a dlclose. */
void *unloaded_look(void);

/* Remembers the files of `before` that are no longer loaded, and frees it (or NULL). Call after dlclose. */
void unloaded_note(void *before);

/*
 * Lists at most `max` of the unloaded files. The path of one is "" if another file has been at the same
 * addresses, or if the file has changed since. Returns how many.
 */
unsigned unloaded_modules(struct module *modules, unsigned max);

#endif
