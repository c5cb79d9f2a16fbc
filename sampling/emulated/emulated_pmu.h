/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts of the emulator as counters: groups of up to EMULATED_COUNTERS events, of which all counters can
 * count all. Each group has counters of its own, so that none is held by another user. No counter can be read by an
 * instruction. Samples have no callers. Descriptors are numbers that the kernel never gives, so a program cannot close
 * them.
 *
 * Events are the kernel's generic ones, as far as the core model knows them, and raw ones: 0x100 + enum
 * core_count, and 0x200 + enum core_part for cycles.
 */
#ifndef PHASEMUX_SAMPLING_EMULATED_EMULATED_PMU_H
#define PHASEMUX_SAMPLING_EMULATED_EMULATED_PMU_H

#include "sampling/emulated/emulated_counts.h"
#include "sampling/pmu.h"

#define EMULATED_RAW_COUNT 0x100u
#define EMULATED_RAW_PART  0x200u

/*
 * Returns the counters of the emulator in which this process runs, or NULL if it runs in none. Maps them once.
 */
const struct pmu *emulated_pmu(void);

/*
 * Returns the counters that read these counts instead, which are of this process. file: the descriptor of the file that
 * has them, whose length is EMULATED_FILE_BYTES; -1: there are no samples. For tests.
 */
const struct pmu *emulated_pmu_of(struct emulated_counts *counts, int file);

/* Returns whether the core counts an event with this type and configuration. */
bool emulated_counts_event(uint32_t type, uint64_t config);

/* Returns what the event counts in all, if a thread has these counts; 0 if the core does not count it. */
uint64_t emulated_total(const struct core_spec *spec, uint32_t type, uint64_t config,
		const uint64_t count[CORE_COUNTS]);

#endif
