/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * True counts of an unmodified program on a processor that does not count. QEMU emulates the program, and its
 * plugin (emulated_counts.c) counts what every thread retires. The scripted PMU, inside the emulated program,
 * shows this as counters (SCRIPTED_PMU=emulated=PREFIX). Both map a file PREFIX.PID, which holds the counts.
 */
#ifndef PHASEMUX_TESTS_EMULATED_H
#define PHASEMUX_TESTS_EMULATED_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * Each retired instruction is of one kind, and costs what the behaviour of this name costs in the scripted PMU.
 */
#define EMULATED_KINDS(kind)                                                                       \
	kind(PLAIN, "alu") kind(ACCESS, "iadd")      /* access to memory, found in the cache */    \
			kind(MISS, "triad")          /* access to memory, not found */             \
			kind(FLOATING, "fma")        /* floating-point arithmetic */               \
			kind(DIVISION, "fdiv")       /* divisions and square roots */              \
			kind(MISPREDICTED, "randbr") /* blocks that were not the predicted one */

enum emulated_kind {
#define EMULATED_NAME(name, behaviour) EMULATED_##name,
	EMULATED_KINDS(EMULATED_NAME)
#undef EMULATED_NAME
			EMULATED_KIND_COUNT
};

#define EMULATED_THREADS 64 /* number of threads; later ones are not counted */

struct emulated_thread {
	_Atomic uint64_t id; /* the kernel's number of the thread; 0: free */
	_Atomic uint64_t count[EMULATED_KIND_COUNT];
};

struct emulated_counts {
	struct emulated_thread thread[EMULATED_THREADS];
};

#endif
