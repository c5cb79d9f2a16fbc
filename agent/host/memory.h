/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps memory, and tells how much of it is in use: the kernel allocates a page when it is touched first. */
#ifndef PHASEMUX_AGENT_HOST_MEMORY_H
#define PHASEMUX_AGENT_HOST_MEMORY_H

#include <stddef.h>

/* Returns zeroed memory in whole pages, or NULL. Does not use the program's allocator. */
void *memory_map(size_t bytes);
void memory_unmap(void *at, size_t bytes);

/* Returns the bytes of these pages that are in memory; those of all pages if the kernel does not tell. */
size_t memory_resident(const void *at, size_t bytes);

#endif
