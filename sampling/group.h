/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A group of events that one thread counts together: pinned, user level only, opened once, enabled
 * and disabled as a whole, read as a whole. A group belongs to the thread that it counts.
 */
#ifndef PHASEMUX_SAMPLING_GROUP_H
#define PHASEMUX_SAMPLING_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sampling/event.h"
#include "sampling/pmu.h"

#define GROUP_EVENTS_MAX 8

enum read_method {
	READ_SYSCALL, /* one read(2) of the group */
	READ_RDPMC,   /* one rdpmc per event on the mapped pages; falls back to READ_SYSCALL */
};

struct group {
	const struct pmu *pmu;
	pid_t thread; /* that is counted, 0: the one that opened it */
	enum read_method method;
	unsigned count;
	bool sampled; /* one event more, after the others, that samples the group (overflow.h) */
	int fd[GROUP_EVENTS_MAX + 1]; /* -1: closed, the event is held by its page alone */
	uint64_t id[GROUP_EVENTS_MAX +
			1]; /* the kernel's, by which we know our descriptors again */
	struct perf_event_mmap_page *page[GROUP_EVENTS_MAX]; /* NULL: not mapped */
	bool enabled;
};

/*
 * Opens the group, disabled, on the calling thread. One descriptor is left open, CLOEXEC and above
 * the range that programs use; the other events are kept by their mapped pages (a page each), or
 * by descriptors where the kernel lets no more memory be locked. Software events include the kernel
 * level where that is allowed: a context switch happens nowhere else. Where an event cannot be read
 * by rdpmc, the method becomes READ_SYSCALL. 0 or -errno, with *bad the index of the event that could
 * not be opened; the group is then empty, and may be given to group_close.
 */
int group_open(struct group *group, const struct pmu *pmu, const struct event *const events[],
		unsigned count, enum read_method method, unsigned *bad);

/*
 * The same of another thread of the process, 0: the calling one. To save pages, READ_SYSCALL keeps
 * events by descriptors where these are plenty.
 */
int group_open_on(struct group *group, pid_t thread, const struct pmu *pmu,
		const struct event *const events[], unsigned count, enum read_method method,
		bool save_pages, unsigned *bad);

/*
 * Adds the event that samples the group, which has not been enabled yet; what is read of the group
 * stays the same. 0 or -errno.
 */
int group_sample(struct group *group, struct perf_event_attr *attr);

/* Memory that the kernel keeps for the group, mapped. */
size_t group_bytes(const struct group *group);

/* A descriptor that the program has closed and reused meanwhile is left alone. */
void group_close(struct group *group);

/* For the child of a fork: lets go of the descriptors without touching the parent's counters. */
void group_abandon(struct group *group);

/* 0 or -errno. After enabling, take a baseline: counts do not start from 0. */
int group_enable(struct group *group);
int group_disable(struct group *group);

/*
 * Reads values[0 .. count) in the order of the events, each widened to 64 bits. 0 or -errno:
 * -EIO: not counting (held by somebody else, or disabled by the kernel); -EBADF: the descriptor
 * is no longer ours. The values are undefined then.
 */
int group_read(struct group *group, uint64_t *values);
/* The same from a thread that is not the one that is counted. */
int group_read_other(struct group *group, uint64_t *values);

/*
 * The difference of two readings. False when it cannot be: a counter ran backwards or by more than
 * 2^46; such a burst is lost.
 */
bool group_delta(const uint64_t *before, const uint64_t *after, unsigned count, uint64_t *delta);

#endif
