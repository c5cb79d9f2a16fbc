/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the kernel's counters are kept awake from a rank's MPI_Init until it has counters of its own. */
#include <dirent.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/preload/prestart.h"
#include "sampling/descriptor.h"
#include "tests/tap.h"

#define SECONDS 20

/*
 * Returns the number of this process's descriptors that are events. lowest: receives the lowest of them, or
 * INT_MAX.
 */
static unsigned events(int *lowest)
{
	DIR *folder = opendir("/proc/self/fd");
	unsigned count = 0;
	struct dirent *entry;

	*lowest = INT_MAX;
	while (folder && (entry = readdir(folder))) {
		char target[64];
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, target,
				sizeof(target) - 1);

		if (length < 0)
			continue;
		target[length] = 0;
		if (strcmp(target, "anon_inode:[perf_event]") != 0)
			continue;
		count++;
		if (atoi(entry->d_name) < *lowest)
			*lowest = atoi(entry->d_name);
	}
	if (folder)
		closedir(folder);
	return count;
}

/* Waits until the thread that opens the event has ended. */
static void wait_for_thread(void)
{
	unsigned threads;

	do {
		DIR *folder = opendir("/proc/self/task");

		threads = 0;
		while (folder && readdir(folder))
			threads++;
		if (folder)
			closedir(folder);
		usleep(1000);
	} while (threads != 3); /* the main thread, `.` and `..` */
}

static int holds(void *unused)
{
	int lowest;

	(void)unused;
	prestart_wake_counters();
	wait_for_thread();
	return events(&lowest) != 1 || lowest < descriptor_lowest();
}

static int holds_one(void *unused)
{
	int lowest;

	(void)unused;
	for (int i = 0; i < 2; i++) {
		prestart_wake_counters();
		wait_for_thread();
	}
	return events(&lowest) != 1;
}

static int releases(void *unused)
{
	int lowest;

	(void)unused;
	prestart_wake_counters();
	wait_for_thread();
	prestart_release_counters();
	return events(&lowest) != 0;
}

static int releases_at_once(void *unused)
{
	int lowest;

	(void)unused;
	prestart_wake_counters();
	prestart_release_counters();
	wait_for_thread();
	return events(&lowest) != 0;
}

/* Returns why no event can be held here, or NULL. */
static const char *missing(void)
{
#ifdef __SANITIZE_THREAD__
	return "ThreadSanitizer takes every clone() for a fork";
#else
	struct perf_event_attr attr = {
		.size = PERF_ATTR_SIZE_VER0,
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return "the kernel allows no event here";
	close((int)fd);
	return NULL;
#endif
}

int main(void)
{
	const char *why = missing();

	if (why) {
		skip("an event is held, and released", why);
		return tap_done();
	}
	ok(tap_survives(holds, NULL, SECONDS), "an event is held, above the program's own");
	ok(tap_survives(holds_one, NULL, SECONDS), "and not a second one");
	ok(tap_survives(releases, NULL, SECONDS), "none is left");
	ok(tap_survives(releases_at_once, NULL, SECONDS), "nor where it is opened later than that");
	return tap_done();
}
