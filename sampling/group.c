/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/group.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "sampling/descriptor.h"
#include "sampling/rdpmc.h"

#define DELTA_MAX (UINT64_C(1) << 46)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

/* Returns the bits of config1 that ask for a counter which the thread may read without a system call. */
static uint64_t request_access(const struct event *event, enum read_method method)
{
	bool counted = event->type == PERF_TYPE_HARDWARE || event->type == PERF_TYPE_HW_CACHE ||
			event->type == PERF_TYPE_RAW;

	/* NOLINTNEXTLINE(bugprone-branch-clone): RDPMC_REQUEST is 0 on some processors */
	return method == READ_RDPMC && counted ? RDPMC_REQUEST : 0;
}

static int open_event(struct group *group, const struct event *event, enum read_method method)
{
	struct perf_event_attr attr = {
		.size = PMU_ATTR_BYTES,
		.type = event->type,
		.config = event->config,
		.config1 = event->config1 | request_access(event, method),
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID,
		.disabled = group->count == 0,
		.pinned = group->count == 0,
		/*
		 * The kernel of ARM64 leaves a disabled leader out when it checks whether a group fits the
		 * counters, except with this. No exec enables the leader, because exec closes its descriptor.
		 */
		.enable_on_exec = group->count == 0,
		.exclude_kernel = event->type != PERF_TYPE_SOFTWARE,
		.exclude_hv = 1,
		/* the events of a sampled group must have one clock */
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	int leader = group->count == 0 ? -1 : group->fd[0];
	int fd = group->pmu->open(&attr, group->thread, leader);

	if ((fd == -EACCES || fd == -EPERM) && !attr.exclude_kernel) {
		attr.exclude_kernel = 1;
		fd = group->pmu->open(&attr, group->thread, leader);
	}
	return fd;
}

static void unmap_page(struct group *group, unsigned i)
{
	if (group->page[i])
		group->pmu->unmap(group->page[i], page_bytes());
	group->page[i] = NULL;
}

/*
 * Maps the events' pages, and closes the descriptors of all but the first one. A mapping keeps its event alive
 * without a descriptor. A program's limit may allow few descriptors, and the program may close them. If an
 * event cannot be mapped, its descriptor stays open.
 */
static void map_pages(struct group *group, enum read_method method, bool save_pages)
{
	bool readable = method == READ_RDPMC;

	for (unsigned i = 0; i < group->count; i++) {
		if (method != READ_RDPMC &&
				(i == 0 || (save_pages && descriptor_is_spare(group->fd[i]))))
			continue;
		group->page[i] = group->pmu->map(group->fd[i], page_bytes(), false);
		readable = readable && group->page[i] && group->page[i]->cap_user_rdpmc;
		if (i > 0 && group->page[i] && group->pmu->close(group->fd[i]) == 0)
			group->fd[i] = -1;
	}
	if (!readable)
		unmap_page(group, 0);
	group->method = readable ? READ_RDPMC : READ_SYSCALL;
}

int group_open_on(struct group *group, const struct group_spec *spec, unsigned *bad)
{
	memset(group, 0, sizeof(*group));
	group->thread = spec->thread;
	group->pmu = spec->pmu;
	*bad = 0;
	if (spec->count == 0 || spec->count > GROUP_EVENTS_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < spec->count; i++) {
		int fd = open_event(group, spec->events[i], spec->method);

		if (fd < 0) {
			group_close(group);
			*bad = i;
			return fd;
		}
		group->fd[i] = fd;
		group->count++;
		if (group->pmu->ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&group->id[i]) < 0)
			group->id[i] = 0; /* not known */
	}
	map_pages(group, spec->method, spec->save_pages);
	return 0;
}

int group_open(struct group *group, const struct pmu *pmu, const struct event *const events[],
		unsigned count, enum read_method method, unsigned *bad)
{
	const struct group_spec spec = {
		.pmu = pmu,
		.events = events,
		.count = count,
		.method = method,
	};

	return group_open_on(group, &spec, bad);
}

size_t group_bytes(const struct group *group)
{
	size_t pages = 0;

	for (unsigned i = 0; i < group->count; i++)
		pages += group->page[i] != NULL;
	return pages * page_bytes();
}

int group_sample(struct group *group, struct perf_event_attr *attr)
{
	int fd = group->pmu->open(attr, group->thread, group->fd[0]);

	if (fd < 0)
		return fd;
	group->fd[group->count] = fd;
	if (group->pmu->ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&group->id[group->count]) < 0)
		group->id[group->count] = 0;
	group->sampled = true;
	return 0;
}

/*
 * Returns whether the descriptor is still the agent's: only its event has this id, and other files refuse the
 * request.
 */
static bool is_ours(const struct group *group, unsigned i)
{
	uint64_t id = 0;
	int error = group->pmu->ioctl(group->fd[i], PERF_EVENT_IOC_ID, (unsigned long)&id);

	if (error == 0 && group->id[i])
		return id == group->id[i];
	return error != -EBADF && error != -ENOTTY;
}

static void close_descriptors(struct group *group)
{
	/* the leader last, because siblings without a leader would become events of their own */
	for (unsigned i = group->count + group->sampled; i-- > 0;)
		if (group->fd[i] >= 0 && is_ours(group, i))
			group->pmu->close(group->fd[i]);
	group->count = 0;
	group->sampled = false;
	group->enabled = false;
}

void group_close(struct group *group)
{
	for (unsigned i = group->count; i-- > 0;)
		unmap_page(group, i);
	close_descriptors(group);
}

void group_abandon(struct group *group)
{
	/*
	 * Closing drops only this process's references; a disable would stop the parent's
	 * counters. The child of a fork does not have the pages, so something else may be mapped
	 * at their addresses now.
	 */
	memset(group->page, 0, sizeof(group->page));
	group->method = READ_SYSCALL;
	close_descriptors(group);
}

/* Sends the request to the group, if its descriptor is not another event's since the program closed it. */
static int ask(struct group *group, unsigned long request)
{
	return is_ours(group, 0) ? group->pmu->ioctl(group->fd[0], request, 0) : -EBADF;
}

int group_enable(struct group *group)
{
	int error = ask(group, PERF_EVENT_IOC_ENABLE);

	/* siblings were opened enabled, so they follow their leader */
	group->enabled = error == 0;
	return error;
}

int group_disable(struct group *group)
{
	int error = ask(group, PERF_EVENT_IOC_DISABLE);

	group->enabled = false;
	return error;
}

/* A reading of a group, as the kernel writes it. */
struct group_counts {
	uint64_t events;
	struct {
		uint64_t value, id;
	} event[GROUP_EVENTS_MAX + 1];
};

static int read_by_syscall(struct group *group, uint64_t *values)
{
	struct group_counts counts;
	size_t events = group->count + group->sampled;
	size_t size = offsetof(struct group_counts, event) + events * sizeof(counts.event[0]);
	ssize_t got = group->pmu->read(group->fd[0], &counts, size);

	if (got < 0)
		return (int)got;
	if (got == 0) /* a pinned group in its error state */
		return -EIO;
	if ((size_t)got != size || counts.events != events ||
			(group->id[0] && counts.event[0].id != group->id[0]))
		return -EBADF;
	for (unsigned i = 0; i < group->count; i++)
		values[i] = counts.event[i].value;
	return 0;
}

int group_read(struct group *group, uint64_t *values)
{
	if (group->method == READ_SYSCALL)
		return read_by_syscall(group, values);
	for (unsigned i = 0; i < group->count; i++)
		if (!rdpmc_read(group->page[i], rdpmc_instruction, &values[i]))
			return read_by_syscall(group, values);
	return 0;
}

bool group_read_by_pages(const struct group *group)
{
	uint64_t value;

	if (group->method != READ_RDPMC)
		return false;
	for (unsigned i = 0; i < group->count; i++)
		if (!rdpmc_read(group->page[i], rdpmc_instruction, &value))
			return false;
	return true;
}

int group_read_other(struct group *group, uint64_t *values)
{
	return read_by_syscall(group, values);
}

bool group_delta(const uint64_t *before, const uint64_t *after, unsigned count, uint64_t *delta)
{
	bool possible = true;

	for (unsigned i = 0; i < count; i++) {
		delta[i] = after[i] - before[i];
		/* running backwards shows as a difference near 2^64 */
		possible &= delta[i] <= DELTA_MAX;
	}
	return possible;
}
