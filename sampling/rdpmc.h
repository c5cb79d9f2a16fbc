/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a counter without a system call, by the page that the kernel maps for its event. The
 * protocol is that of perf_event_open(2): the page's sequence lock, the counter's index, the sign
 * extension of the counter's value, and the kernel's offset. x86 only, because ARM needs a system
 * setting as well, and POWER has no such instruction.
 */
#ifndef PHASEMUX_SAMPLING_RDPMC_H
#define PHASEMUX_SAMPLING_RDPMC_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Number of tries. The kernel rewrites the page at context switches; a reader that always fails has lost its
 * page.
 */
#define RDPMC_TRIES 64

static inline uint64_t rdpmc_instruction(uint32_t counter)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdpmc((int)counter);
#else
	(void)counter;
	return 0;
#endif
}

/* Returns what a counter of `width` bits with the value `raw` adds to the kernel's offset. It is signed. */
static inline uint64_t rdpmc_extend(uint64_t raw, unsigned width)
{
	if (width == 0 || width >= 64)
		return raw;
	return (uint64_t)((int64_t)(raw << (64 - width)) >> (64 - width));
}

/*
 * Reads the event's count. Returns false if only the kernel can tell it, because the event is on no counter
 * now, or this user may not read counters. `counter_read` is rdpmc_instruction, except in tests.
 */
static inline bool rdpmc_read(const struct perf_event_mmap_page *page,
		uint64_t (*counter_read)(uint32_t counter), uint64_t *value)
{
	for (unsigned i = 0; i < RDPMC_TRIES; i++) {
		uint32_t before = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		uint32_t index = __atomic_load_n(&page->index, __ATOMIC_RELAXED);
		int64_t offset = __atomic_load_n(&page->offset, __ATOMIC_RELAXED);
		uint64_t raw;

		if (!page->cap_user_rdpmc || index == 0)
			return false;
		raw = counter_read(index - 1);
		/* a compiler barrier is enough, because the kernel writes the page on this processor only */
		__asm__ volatile("" ::: "memory");
		if (__atomic_load_n(&page->lock, __ATOMIC_ACQUIRE) == before) {
			*value = (uint64_t)offset + rdpmc_extend(raw, page->pmc_width);
			return true;
		}
	}
	return false;
}

#endif
