/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Samples of one thread. After each period of the thread's processor time, the kernel writes the thread's
 * address and the values of the group that is being counted into a ring. The kernel shares this ring with the
 * agent. No signal is sent, and nothing runs in the thread.
 *
 * Each group of the thread has a sampling event (a software clock, which needs no counter). All of them write
 * into one ring. When the ring is full, the kernel drops samples, and says how many.
 *
 * A sample also has the callers of the sampled code, as far as the kernel finds them: it follows the frame pointers.
 * Code that keeps none ends the list, leaves its caller out, or adds words to it that are no return addresses.
 *
 * Call overflow_open and overflow_close on the thread itself. One thread at a time, which may be any, may call
 * the other functions until overflow_close.
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
	int fd;                            /* of the event that owns the ring */
	uint64_t tail;                     /* up to which records were taken, in bytes */
	uint64_t lost;                     /* number of dropped samples, as far as read */
	bool stacks;                       /* the kernel writes the callers */
};

struct overflow_sample {
	uintptr_t address; /* of the instruction at which the thread was */
	uint64_t time;     /* CLOCK_MONOTONIC, ns */
	uint64_t id;       /* of the sampling event, which tells the group */
	uint64_t lost;     /* number of samples that the ring lost before this one */
	uint64_t clock;    /* ns that the thread ran while this group was enabled */
	unsigned count;    /* number of values, in the order of the group's events */
	uint64_t values[GROUP_EVENTS_MAX];
};

#define OVERFLOW_CALLERS_MAX 24

/* The callers of the sampled code. */
struct overflow_stack {
	unsigned callers;                      /* number of those below; 0: the kernel found none */
	bool deeper;                           /* there are more of them than have room */
	uint64_t caller[OVERFLOW_CALLERS_MAX]; /* return addresses, innermost first */
};

/*
 * Makes the ring with the sampling event of the group, which must not have been enabled yet. overflow is zeros.
 * A sample is taken every period_ns of the thread's time. The ring has room for about `samples`, or for fewer
 * if the kernel does not lock as much memory. Returns 0 or -errno. After an error there are no samples, and the
 * group is unchanged or has one event more, which is never read.
 */
int overflow_open(struct overflow *overflow, struct group *group, uint64_t period_ns,
		unsigned samples);

/* Adds a further group of the thread, which is sampled into the same ring. Returns 0 or -errno. */
int overflow_add(struct overflow *overflow, struct group *group, uint64_t period_ns);

/* Unmaps the ring. Call before the groups are closed. */
void overflow_close(struct overflow *overflow);

/* Forgets the ring. Call in the child of a fork, which does not have it. */
void overflow_abandon(struct overflow *overflow);

/* Returns the position in bytes at which the kernel will write next. Records before it can be read. */
static inline uint64_t overflow_head(const struct overflow *overflow)
{
	/* pairs with the kernel's barrier before it moves the head: the records are written */
	return overflow->page ? __atomic_load_n(&overflow->page->data_head, __ATOMIC_ACQUIRE) :
				overflow->tail;
}

/* Reads the oldest sample before `head`, and leaves it in the ring. Returns false if there is none. */
bool overflow_peek(struct overflow *overflow, uint64_t head, struct overflow_sample *sample);

/* Reads the callers of the sample that overflow_peek has read, which is still in the ring. */
void overflow_callers(const struct overflow *overflow, struct overflow_stack *stack);

/* Returns the number of samples before `head` with from <= time < to (ns), counted up to `most`. */
unsigned overflow_count(const struct overflow *overflow, uint64_t head, uint64_t from, uint64_t to,
		unsigned most);

/* Removes the sample that overflow_peek has read from the ring. */
void overflow_take(struct overflow *overflow);

#endif
