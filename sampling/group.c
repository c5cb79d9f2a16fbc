#include "sampling/group.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sampling/rdpmc.h"

#define DELTA_MAX (UINT64_C(1) << 46)

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static int open_event(struct group *group, const struct event *event)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = event->type,
		.config = event->config,
		.config1 = event->config1,
		.read_format = PERF_FORMAT_GROUP,
		.disabled = group->count == 0,
		.pinned = group->count == 0,
		.exclude_kernel = event->type != PERF_TYPE_SOFTWARE,
		.exclude_hv = 1,
	};
	int leader = group->count == 0 ? -1 : group->fd[0];
	int fd = group->pmu->open(&attr, leader);

	if ((fd == -EACCES || fd == -EPERM) && !attr.exclude_kernel) {
		attr.exclude_kernel = 1;
		fd = group->pmu->open(&attr, leader);
	}
	return fd;
}

static void unmap_pages(struct group *group)
{
	for (unsigned i = 0; i < group->count; i++)
		if (group->page[i])
			group->pmu->unmap(group->page[i], page_bytes());
	memset(group->page, 0, sizeof(group->page));
	group->method = READ_SYSCALL;
}

static void map_pages(struct group *group)
{
	group->method = READ_RDPMC;
	for (unsigned i = 0; i < group->count; i++) {
		group->page[i] = group->pmu->map(group->fd[i], page_bytes());
		if (!group->page[i] || !group->page[i]->cap_user_rdpmc) {
			unmap_pages(group);
			return;
		}
	}
}

int group_open(struct group *group, const struct pmu *pmu, const struct event *const events[],
		unsigned count, enum read_method method, unsigned *bad)
{
	memset(group, 0, sizeof(*group));
	group->pmu = pmu;
	*bad = 0;
	if (count == 0 || count > GROUP_EVENTS_MAX)
		return -EINVAL;
	for (unsigned i = 0; i < count; i++) {
		int fd = open_event(group, events[i]);

		if (fd < 0) {
			group_close(group);
			*bad = i;
			return fd;
		}
		group->fd[i] = fd;
		group->count++;
		if (pmu->ioctl(fd, PERF_EVENT_IOC_ID, (unsigned long)&group->id[i]) < 0)
			group->id[i] = 0; /* not known */
	}
	if (method == READ_RDPMC)
		map_pages(group);
	return 0;
}

/* Nobody else has our id, and another kind of file knows no such request. */
static bool is_ours(const struct group *group, unsigned i)
{
	uint64_t id = 0;
	int error = group->pmu->ioctl(group->fd[i], PERF_EVENT_IOC_ID, (unsigned long)&id);

	if (error == 0 && group->id[i])
		return id == group->id[i];
	return error != -EBADF && error != -ENOTTY;
}

void group_close(struct group *group)
{
	if (group->count)
		unmap_pages(group);
	/* the leader last: siblings without a leader would become events of their own */
	for (unsigned i = group->count; i-- > 0;)
		if (is_ours(group, i))
			group->pmu->close(group->fd[i]);
	group->count = 0;
	group->enabled = false;
}

void group_abandon(struct group *group)
{
	/* closing drops this process's reference alone; a disable would stop the parent's counters */
	group_close(group);
}

int group_enable(struct group *group)
{
	int error = group->pmu->ioctl(group->fd[0], PERF_EVENT_IOC_ENABLE, 0);

	/* siblings were opened enabled, so they follow their leader */
	group->enabled = error == 0;
	return error;
}

int group_disable(struct group *group)
{
	int error = group->pmu->ioctl(group->fd[0], PERF_EVENT_IOC_DISABLE, 0);

	group->enabled = false;
	return error;
}

static int read_by_syscall(struct group *group, uint64_t *values)
{
	uint64_t buffer[1 + GROUP_EVENTS_MAX];
	size_t size = (1 + group->count) * sizeof(buffer[0]);
	ssize_t got = group->pmu->read(group->fd[0], buffer, size);

	if (got < 0)
		return (int)got;
	if (got == 0) /* a pinned group in its error state */
		return -EIO;
	if ((size_t)got != size || buffer[0] != group->count)
		return -EBADF;
	memcpy(values, buffer + 1, size - sizeof(buffer[0]));
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
