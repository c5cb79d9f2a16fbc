/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading a counter without a system call, by the page that the kernel maps for its event. The
 * protocol is that of perf_event_open(2): the page's sequence lock, the counter's index, the sign
 * extension of the counter's value, and the kernel's offset. x86, and ARM64 with kernel.perf_user_access (Linux
 * 5.17). POWER has no such instruction.
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

#if defined(__aarch64__)

#define RDPMC_NAME "mrs"
/* Bit of config1 by which an event asks for a counter that the thread may read (armv8_pmuv3's "rdpmc"). */
#define RDPMC_REQUEST 2

/* Counter 31 is the one of cycles. */
static inline uint64_t rdpmc_instruction(uint32_t counter)
{
	uint64_t value = 0;

	/* the number of a counter is a part of the instruction */
#define RDPMC_CASE(number)                                                                         \
	case number:                                                                               \
		__asm__ volatile("mrs %0, pmevcntr" #number "_el0" : "=r"(value));                 \
		break
	switch (counter) {
		RDPMC_CASE(0);
		RDPMC_CASE(1);
		RDPMC_CASE(2);
		RDPMC_CASE(3);
		RDPMC_CASE(4);
		RDPMC_CASE(5);
		RDPMC_CASE(6);
		RDPMC_CASE(7);
		RDPMC_CASE(8);
		RDPMC_CASE(9);
		RDPMC_CASE(10);
		RDPMC_CASE(11);
		RDPMC_CASE(12);
		RDPMC_CASE(13);
		RDPMC_CASE(14);
		RDPMC_CASE(15);
		RDPMC_CASE(16);
		RDPMC_CASE(17);
		RDPMC_CASE(18);
		RDPMC_CASE(19);
		RDPMC_CASE(20);
		RDPMC_CASE(21);
		RDPMC_CASE(22);
		RDPMC_CASE(23);
		RDPMC_CASE(24);
		RDPMC_CASE(25);
		RDPMC_CASE(26);
		RDPMC_CASE(27);
		RDPMC_CASE(28);
		RDPMC_CASE(29);
		RDPMC_CASE(30);
	case 31:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
		break;
	}
#undef RDPMC_CASE
	return value;
}

#else

#define RDPMC_NAME    "rdpmc"
#define RDPMC_REQUEST 0

static inline uint64_t rdpmc_instruction(uint32_t counter)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdpmc((int)counter);
#else
	(void)counter;
	return 0;
#endif
}

#endif

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
