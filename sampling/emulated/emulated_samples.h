/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of an emulated thread: records as the kernel writes them for sampling/overflow.h, without callers, in a ring
 * that the emulator's plugin fills and the agent empties. A group of events that is enabled is sampled after each
 * period of the thread's processor time. Only the plugin's code on the thread itself writes records.
 *
 * The agent says which group is enabled, perhaps on another thread. `changes` is odd meanwhile, as in a seqlock: the
 * plugin, which must not wait, takes its sample a moment later then.
 */
#ifndef PHASEMUX_SAMPLING_EMULATED_EMULATED_SAMPLES_H
#define PHASEMUX_SAMPLING_EMULATED_EMULATED_SAMPLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampling/emulated/core_model.h"

#define EMULATED_COUNTERS   8
#define EMULATED_PAGE_BYTES 4096u
#define EMULATED_RING_MAX   65536u /* bytes of a ring, without its page; a power of two */
#define EMULATED_RING_SPACE (EMULATED_PAGE_BYTES + EMULATED_RING_MAX)

/* The group of a thread that is sampled. */
struct emulated_sampling {
	_Atomic uint64_t changes;      /* odd while the fields below change */
	_Atomic uint64_t period_ns;    /* processor time between two samples; 0: there are none */
	_Atomic uint64_t id;           /* of the sampling event */
	_Atomic uint64_t clock_offset; /* its value is the processor time of the thread plus this */
	_Atomic uint64_t members;      /* number of the other events */
	struct {
		_Atomic uint64_t number; /* of the total that it counts, as of core_totals */
		_Atomic uint64_t offset; /* its value is the total plus this */
	} member[EMULATED_COUNTERS];
	/* of the ring; the agent sets it, when nothing is sampled */
	_Atomic uint64_t ring_bytes; /* 0: there is none */
	_Atomic uint64_t lost;       /* samples without room, which only the plugin counts */
};

/* Where and when a thread is. */
struct emulated_moment {
	uint64_t address;
	uint64_t time;   /* CLOCK_MONOTONIC, ns */
	uint64_t ran_ns; /* processor time of the thread */
};

/*
 * Writes a sample of the group that is enabled into `ring`, which has a page and then its bytes. counts: those of the
 * thread. Returns false, and writes nothing, if the group is being changed.
 */
bool emulated_sample(struct emulated_sampling *sampling, void *ring, const struct core_spec *spec,
		const struct core_counts *counts, const struct emulated_moment *moment);

#endif
