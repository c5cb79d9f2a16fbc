/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of <dlfcn.h>, as the C library of the program has them. They are looked for when they are called. If the
 * preload named them, then its programs would need glibc 2.34, and an older one would not start them.
 */
#ifndef PHASEMUX_AGENT_LOADER_DYNAMIC_H
#define PHASEMUX_AGENT_LOADER_DYNAMIC_H

#include <stdbool.h>

/* Returns whether the program has these functions. Before glibc 2.34 they are in libdl, which not all programs need. */
bool dynamic_is_there(void);

/* Like dlopen(), dlsym() and dlerror(). They return NULL if the program does not have these functions. */
void *dynamic_open(const char *path, int flags);
void *dynamic_find(void *library, const char *symbol);
const char *dynamic_error(void);

/* Like dlclose() of a library that the program keeps open: what it unloads is not noted (unloaded.h). */
void dynamic_close(void *library);

#endif
