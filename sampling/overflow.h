/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of one thread: every so often, by the time that it runs on a processor, the kernel writes
 * where the thread is, and the values of the group that is being counted, into a ring that it
 * shares with us. No signal is sent, and nothing runs in the thread.
 *
 * Each group of the thread has a sampling event (a software clock: it needs no counter), and all
 * write into the one ring. Where the ring is full the kernel drops samples, and says how many.
 *
 * overflow_open and _close are for the thread itself; the rest is for one caller at a time, of any
 * thread, until overflow_close.
 */
#ifndef PHASEMUX_SAMPLING_OVERFLOW_H
#define PHASEMUX_SAMPLING_OVERFLOW_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampling/group.h"

struct overflow {
	const struct pmu *pmu;
	struct perf_event_mmap_page *page; /* NULL: no samples */
	size_t bytes;                      /* mapped, with the page */
	int fd;                            /* of the event whose ring it is */
	uint64_t tail;
	uint64_t lost; /* samples that found no room, as far as read */
};

struct overflow_sample {
	uintptr_t address; /* of the program, where it was */
	uint64_t time;     /* CLOCK_MONOTONIC, ns */
	uint64_t id;       /* of the sampling event: of which group */
	uint64_t lost;     /* samples lost up to this one, of all the ring's */
	uint64_t clock;    /* ns that the thread ran while this group was enabled */
	unsigned count;    /* values of the group, in the order of its events */
	uint64_t values[GROUP_EVENTS_MAX];
};

/*
 * Makes the ring, of zeroed memory, with the sampling event of that group, which must not have been
 * enabled yet: a sample every period_ns of the thread's time, room for about `samples`; where the
 * kernel does not lock so much memory, for fewer. 0 or -errno; then there are no samples, and the group
 * is as it was, or counts with an event more that is never seen.
 */
int overflow_open(struct overflow *overflow, struct group *group, uint64_t period_ns,
		unsigned samples);

/* The same for each further group of the thread: into the same ring. */
int overflow_add(struct overflow *overflow, struct group *group, uint64_t period_ns);

/* Before the groups are closed. */
void overflow_close(struct overflow *overflow);

/* For the child of a fork: the ring is not there. */
void overflow_abandon(struct overflow *overflow);

/* Where the kernel will write next; what is before it can be read. */
static inline uint64_t overflow_head(const struct overflow *overflow)
{
	/* pairs with the kernel's barrier before it moves the head: the records are written */
	return overflow->page ? __atomic_load_n(&overflow->page->data_head, __ATOMIC_ACQUIRE) :
				overflow->tail;
}

/* The oldest sample before `head`, which stays. False: there is none. */
bool overflow_peek(struct overflow *overflow, uint64_t head, struct overflow_sample *sample);

/* How many samples before `head` are from these moments, from <= time < to, up to `most`. */
unsigned overflow_count(const struct overflow *overflow, uint64_t head, uint64_t from, uint64_t to,
		unsigned most);

/* Takes what overflow_peek has shown out of the ring. */
void overflow_take(struct overflow *overflow);

#endif
