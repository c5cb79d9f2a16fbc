/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/descriptor.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <unistd.h>

#define SPARE_SHARE 4 /* the agent may use a quarter of the descriptors that the limit allows */
/* The limit from which a quarter of it has room for 1,024 descriptors of the agent. */
#define LIMIT_PLENTY (SPARE_SHARE * (DESCRIPTOR_LIFTED + 1024))
#define RAISED_MAX   65536 /* descriptors; the limit is raised no further */

/* Returns a copy of fd at the lowest free number above the limit and from 512 on, or -1. */
static int copy_above_limit(int fd)
{
	/* the process whose thread holds this lock; a child of a fork may find its parent's number in it */
	static _Atomic pid_t holder;
	struct rlimit limit, raised, seen;
	pid_t self = getpid(), known = 0;
	int copy = -1;

	while (!atomic_compare_exchange_strong(&holder, &known, self))
		if (known == self) {
			sched_yield();
			known = 0;
		}
	/* read under the lock, because another thread may have raised the limit before */
	if (getrlimit(RLIMIT_NOFILE, &limit))
		goto out;
	raised = limit;
	raised.rlim_cur = limit.rlim_max < RAISED_MAX ? limit.rlim_max : RAISED_MAX;
	if (limit.rlim_cur >= LIMIT_PLENTY || limit.rlim_cur >= raised.rlim_cur ||
			prlimit(0, RLIMIT_NOFILE, &raised, &limit))
		goto out;
	copy = fcntl(fd, F_DUPFD_CLOEXEC,
			limit.rlim_cur > DESCRIPTOR_LIFTED ? (int)limit.rlim_cur :
							     DESCRIPTOR_LIFTED);
	/* keep a limit that the program itself has set meanwhile */
	if (prlimit(0, RLIMIT_NOFILE, &limit, &seen) == 0 &&
			(seen.rlim_cur != raised.rlim_cur || seen.rlim_max != raised.rlim_max))
		setrlimit(RLIMIT_NOFILE, &seen);
out:
	atomic_store(&holder, 0);
	return copy;
}

int descriptor_lowest(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 2 * DESCRIPTOR_LIFTED)
		return (int)(limit.rlim_cur / 2);
	return DESCRIPTOR_LIFTED;
}

static int copy_up(int fd)
{
	int lowest = descriptor_lowest();

	return fd >= lowest ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, lowest);
}

int descriptor_lift(int fd)
{
	int copy = copy_above_limit(fd);

	if (copy < 0)
		copy = copy_up(fd);
	if (copy < 0)
		return fd;
	close(fd);
	return copy;
}

bool descriptor_is_spare(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
			(limit.rlim_cur <= (rlim_t)fd || limit.rlim_cur / SPARE_SHARE > (rlim_t)fd);
}
