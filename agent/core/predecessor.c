/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/core/predecessor.h"

#include <dirent.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/spool/spool.h"
#include "sampling/clock.h"

#define START_DOUBT 0.05 /* seconds: the kernel knows a process' start to 10 ms */

/* Returns when this process was made, in seconds since 1970; INFINITY if not known. exec does not change it. */
static double process_started(void)
{
	char text[1024] = "";
	int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
	const char *field;

	if (fd >= 0) {
		if (read(fd, text, sizeof(text) - 1) < 0)
			*text = 0;
		close(fd);
	}
	/* field 22; field 2 is in brackets, and may contain any characters */
	field = strrchr(text, ')');
	for (int i = 2; field && i < 22; i++)
		field = strchr(field + 1, ' ');
	if (!field)
		return INFINITY;
	return (double)(clock_read(CLOCK_REALTIME) - clock_read(CLOCK_BOOTTIME)) * 1e-9 +
			strtod(field + 1, NULL) / (double)sysconf(_SC_CLK_TCK);
}

/* Returns whether the open file is a spool that this process has made. `since`: when the process was made. */
static bool is_own(int fd, double since)
{
	struct spool_facts *facts = malloc(sizeof(*facts));
	struct stat status;
	bool own = facts && fstat(fd, &status) == 0 && status.st_uid == geteuid() &&
			pread(fd, facts, sizeof(*facts), 0) == (ssize_t)sizeof(*facts) &&
			memcmp(facts->magic, SPOOL_MAGIC, sizeof(facts->magic)) == 0 &&
			facts->version == SPOOL_VERSION && facts->pid == getpid() &&
			facts->started > since - START_DOUBT;

	free(facts);
	return own;
}

/* Removes the spools of this process from the folder of a run. Returns whether it removed any. */
static bool remove_in(int folder, double since)
{
	DIR *entries = fdopendir(folder);
	const struct dirent *entry;
	bool any = false;

	if (!entries) {
		close(folder);
		return false;
	}
	while ((entry = readdir(entries))) {
		int fd = strncmp(entry->d_name, "rank-", 5) == 0 ?
				openat(folder, entry->d_name,
						O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC) :
				-1;

		if (fd < 0)
			continue;
		if (is_own(fd, since))
			any |= unlinkat(folder, entry->d_name, 0) == 0;
		close(fd);
	}
	closedir(entries);
	return any;
}

void predecessor_remove(const char *spool_folder)
{
	const char *present = strrchr(spool_folder, '/');
	double since = process_started();
	const struct dirent *entry;
	char user_folder[4096];
	DIR *runs;

	if (!present ||
			snprintf(user_folder, sizeof(user_folder), "%.*s",
					(int)(present - spool_folder),
					spool_folder) >= (int)sizeof(user_folder))
		return;
	runs = opendir(user_folder);
	while (runs && (entry = readdir(runs))) {
		int folder = *entry->d_name != '.' && strcmp(entry->d_name, present + 1) != 0 ?
				openat(dirfd(runs), entry->d_name,
						O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) :
				-1;

		if (folder >= 0 && remove_in(folder, since))
			unlinkat(dirfd(runs), entry->d_name, AT_REMOVEDIR);
	}
	if (runs)
		closedir(runs);
}
