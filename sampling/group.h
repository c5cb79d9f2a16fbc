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
	pid_t thread; /* the thread that is counted; 0: the one that opened the group */
	enum read_method method;
	unsigned count;
	bool sampled; /* a further event, the last one, samples the group (overflow.h) */
	int fd[GROUP_EVENTS_MAX + 1];      /* -1: closed, the event is held by its page alone */
	uint64_t id[GROUP_EVENTS_MAX + 1]; /* the kernel's, to recognise the descriptors */
	struct perf_event_mmap_page *page[GROUP_EVENTS_MAX]; /* NULL: not mapped */
	bool enabled;
};

/* How a group is opened. */
struct group_spec {
	const struct pmu *pmu;
	const struct event *const *events;
	unsigned count; /* number of events */
	pid_t thread;   /* a thread of the process; 0: the calling one */
	enum read_method method;
	bool save_pages; /* READ_SYSCALL keeps events by descriptors if many of these are free */
};

/*
 * Opens the group, disabled, on the calling thread. One descriptor is left open, CLOEXEC and above the range
 * that programs use. The other events are kept by their mapped pages (a page each), or by descriptors if the
 * kernel lets no more memory be locked. Software events include the kernel level if that is allowed, because a
 * context switch happens only there. If an event cannot be read by rdpmc, the method becomes READ_SYSCALL.
 * Returns 0 or -errno, with *bad the index of the event that could not be opened. The group is then empty, and
 * may be given to group_close.
 */
int group_open(struct group *group, const struct pmu *pmu, const struct event *const events[],
		unsigned count, enum read_method method, unsigned *bad);

/* Opens the group like group_open, as the spec says. */
int group_open_on(struct group *group, const struct group_spec *spec, unsigned *bad);

/*
 * Adds the event that samples the group, which has not been enabled yet. Readings of the group have the same
 * values as before. Returns 0 or -errno.
 */
int group_sample(struct group *group, struct perf_event_attr *attr);

/* Returns the bytes that the kernel keeps for the group's mapped pages. */
size_t group_bytes(const struct group *group);

/* Closes the group. A descriptor that the program has closed and reused meanwhile stays open. */
void group_close(struct group *group);

/* Closes the descriptors without changing the parent's counters. Call in the child of a fork. */
void group_abandon(struct group *group);

/* Enables the group. Returns 0 or -errno. Read a baseline afterwards, because counts do not start from 0. */
int group_enable(struct group *group);

/* Disables the group. Returns 0 or -errno. */
int group_disable(struct group *group);

/*
 * Reads values[0 .. count) in the order of the events, each widened to 64 bits. Returns 0 or -errno: -EIO: not
 * counting (another user holds the counters, or the kernel disabled it); -EBADF: the descriptor is no longer
 * the agent's. The values are undefined after an error. Call on the thread that is counted.
 */
int group_read(struct group *group, uint64_t *values);

/*
 * Returns whether group_read reads the enabled group without a system call. With READ_RDPMC it may still need
 * one, because on ARM64 the kernel maps pages that name no counter if kernel.perf_user_access is 0.
 */
bool group_read_by_pages(const struct group *group);

/* Reads values like group_read. Call on a thread that is not the one that is counted. */
int group_read_other(struct group *group, uint64_t *values);

/*
 * Fills delta with the difference of two readings. Returns false if it is impossible, because a counter ran
 * backwards or by more than 2^46. Such a burst is lost.
 */
bool group_delta(const uint64_t *before, const uint64_t *after, unsigned count, uint64_t *delta);

#endif
