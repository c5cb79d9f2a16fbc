/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tells ThreadSanitizer of memory orders that it cannot see, because they are made by code that was not built
 * with it. In all other builds these functions do nothing.
 */
#ifndef PHASEMUX_AGENT_HOST_TSAN_H
#define PHASEMUX_AGENT_HOST_TSAN_H

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#else
#define __tsan_acquire(address) ((void)(address))
#define __tsan_release(address) ((void)(address))
#endif

/* Accesses before a release of an address happen before those after an acquire of that address. */

static inline void tsan_release(const void *address)
{
	__tsan_release((char *)address);
}

static inline void tsan_acquire(const void *address)
{
	__tsan_acquire((char *)address);
}

#endif
