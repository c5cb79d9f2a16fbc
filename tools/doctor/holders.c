/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/doctor/holders.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PERF_LINK "anon_inode:[perf_event]"

bool holders_watchdog(void)
{
	FILE *file = fopen("/proc/sys/kernel/nmi_watchdog", "re");
	int on = 0;

	if (file) {
		if (fscanf(file, "%d", &on) != 1)
			on = 0;
		fclose(file);
	}
	return on != 0;
}

static unsigned count_events(const char *fd_folder)
{
	DIR *folder = opendir(fd_folder);
	unsigned count = 0;
	struct dirent *entry;

	if (!folder) /* another user's, or gone */
		return 0;
	while ((entry = readdir(folder))) {
		char target[sizeof(PERF_LINK)];
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target));

		count += length == sizeof(PERF_LINK) - 1 &&
				memcmp(target, PERF_LINK, sizeof(PERF_LINK) - 1) == 0;
	}
	closedir(folder);
	return count;
}

static void read_name(const char *proc, const char *pid, struct holder *holder)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/comm", proc, pid);
	file = fopen(path, "re");
	if (!file || !fgets(holder->name, sizeof(holder->name), file))
		snprintf(holder->name, sizeof(holder->name), "?");
	if (file)
		fclose(file);
	/* keep only harmless characters, because a program may choose any name */
	for (char *c = holder->name; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = c[1] ? '?' : '\0';
}

/* Keeps the list sorted; what is beyond its end is forgotten. */
static void holder_insert(struct holder *holders, unsigned found, unsigned max,
		const struct holder *holder)
{
	unsigned place = found < max ? found : max;

	while (place > 0 && holders[place - 1].descriptors < holder->descriptors) {
		if (place < max)
			holders[place] = holders[place - 1];
		place--;
	}
	if (place < max)
		holders[place] = *holder;
}

unsigned holders_find(const char *proc, struct holder *holders, unsigned max)
{
	DIR *folder = opendir(proc);
	struct dirent *entry;
	unsigned found = 0;

	if (!folder)
		return 0;
	while ((entry = readdir(folder))) {
		struct holder holder = { .pid = (pid_t)atoi(entry->d_name) };
		char path[512];

		if (holder.pid <= 0 || holder.pid == getpid())
			continue;
		snprintf(path, sizeof(path), "%s/%s/fd", proc, entry->d_name);
		holder.descriptors = count_events(path);
		if (holder.descriptors == 0)
			continue;
		read_name(proc, entry->d_name, &holder);
		holder_insert(holders, found++, max, &holder);
	}
	closedir(folder);
	return found;
}
