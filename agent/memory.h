/* SPDX-License-Identifier: BSD-3-Clause */
/* How much of what was mapped is there: the kernel gives memory when it is touched first. */
#ifndef PHASEMUX_AGENT_MEMORY_H
#define PHASEMUX_AGENT_MEMORY_H

#include <stddef.h>

/* Zeroed, by whole pages; NULL without memory. The program's allocator has nothing to do with it. */
void *memory_map(size_t bytes);
void memory_unmap(void *at, size_t bytes);

/* Bytes of the pages with these bytes that are in memory; where the kernel does not say, all of them. */
size_t memory_resident(const void *at, size_t bytes);

#endif
