/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * True counts of an unmodified program where no processor counts: QEMU emulates the program, its
 * plugin (emulated_counts.c) counts what every thread retires, and the scripted PMU, inside the
 * emulated program, shows that as counters (SCRIPTED_PMU=emulated=PREFIX). A file PREFIX.PID, mapped
 * by both, holds the counts.
 */
#ifndef PHASEMUX_TESTS_EMULATED_H
#define PHASEMUX_TESTS_EMULATED_H

#include <stdatomic.h>
#include <stdint.h>

/* Each retired instruction is of one kind, and costs what that behaviour of the scripted PMU does. */
#define EMULATED_KINDS(kind)                                                                       \
	kind(PLAIN, "alu") kind(ACCESS, "iadd")      /* memory, found in the cache */              \
			kind(MISS, "triad")          /* memory, not found */                       \
			kind(FLOATING, "fma")        /* floating-point arithmetic */               \
			kind(DIVISION, "fdiv")       /* divisions and square roots */              \
			kind(MISPREDICTED, "randbr") /* blocks that were not the predicted one */

enum emulated_kind {
#define EMULATED_NAME(name, behaviour) EMULATED_##name,
	EMULATED_KINDS(EMULATED_NAME)
#undef EMULATED_NAME
			EMULATED_KIND_COUNT
};

#define EMULATED_THREADS 64 /* those that come later are not counted */

struct emulated_thread {
	_Atomic uint64_t id; /* the kernel's; 0: free */
	_Atomic uint64_t count[EMULATED_KIND_COUNT];
};

struct emulated_counts {
	struct emulated_thread thread[EMULATED_THREADS];
};

#endif
