/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For orders in which memory is used that ThreadSanitizer cannot see, since they are made by code
 * that was not built for it: whoever makes one tells it. In all other builds this is nothing.
 */
#ifndef PHASEMUX_AGENT_ANNOTATE_H
#define PHASEMUX_AGENT_ANNOTATE_H

#ifdef __SANITIZE_THREAD__
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#else
#define __tsan_acquire(address) ((void)(address))
#define __tsan_release(address) ((void)(address))
#endif

/* What comes before a release of an address comes before what follows an acquire of it. */

static inline void annotate_release(const void *address)
{
	__tsan_release((char *)address);
}

static inline void annotate_acquire(const void *address)
{
	__tsan_acquire((char *)address);
}

#endif
