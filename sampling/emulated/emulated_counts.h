/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory that the plugin of the emulator shares with the agent, which runs inside the emulated program: the
 * counts of each thread, and behind them a ring of samples for each. The plugin makes it as an open file of the process
 * with the name EMULATED_FILE, so that nothing is left when the process ends.
 */
#ifndef PHASEMUX_SAMPLING_EMULATED_EMULATED_COUNTS_H
#define PHASEMUX_SAMPLING_EMULATED_EMULATED_COUNTS_H

#include "sampling/emulated/core_model.h"
#include "sampling/emulated/emulated_samples.h"

#define EMULATED_FILE    "phasemux-emulator"
#define EMULATED_VERSION UINT64_C(0x70686d7500000003) /* changes with the layout */
#define EMULATED_SIZES   "sizes=all" /* the plugin's option to follow other sizes of the last cache */
#define EMULATED_THREADS 512         /* number of threads at a time; further ones are not counted */

struct emulated_thread {
	_Atomic uint64_t id; /* the kernel's number of the thread; 0: free */
	struct core_counts counts;
	struct emulated_sampling sampling;
};

struct emulated_counts {
	uint64_t version;
	uint64_t core; /* number of the core model */
	uint64_t sizes; /* 1: other sizes of its last cache are followed; 0: their misses are not counted */
	struct emulated_thread thread[EMULATED_THREADS];
};

/* Where the rings begin in the file, and its length. A file without rings ends before. */
#define EMULATED_RINGS_AT                                                                          \
	((sizeof(struct emulated_counts) + EMULATED_PAGE_BYTES - 1) / EMULATED_PAGE_BYTES *        \
			EMULATED_PAGE_BYTES)
#define EMULATED_FILE_BYTES (EMULATED_RINGS_AT + (size_t)EMULATED_THREADS * EMULATED_RING_SPACE)

/* Returns the place in the file of the ring of a thread, which is one of `counts`. */
static inline size_t emulated_ring_at(const struct emulated_counts *counts,
		const struct emulated_thread *thread)
{
	return EMULATED_RINGS_AT + (size_t)(thread - counts->thread) * EMULATED_RING_SPACE;
}

/*
 * Names a file to which each read of a group appends a record with all counts of the thread at that moment.
 * `phasemux validate` sets it. From the records of two reads follow all events of the burst between them.
 */
#define EMULATED_READS "PHASEMUX_EMULATED_READS"

struct emulated_record {
	uint64_t thread; /* the kernel's number */
	uint64_t count[CORE_COUNTS];
};

#endif
