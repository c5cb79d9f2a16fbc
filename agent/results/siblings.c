/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/results/siblings.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_RANK (-1)

/* Calls visit for the files of all ranks except `but`. */
static void each(const char *folder, int but,
		void (*visit)(struct recovery *recovery, int folder_fd, const char *name),
		struct recovery *recovery)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	char own[32];

	if (!entries) {
		if (fd >= 0)
			close(fd);
		return;
	}
	snprintf(own, sizeof(own), "rank-%d", but);
	while ((entry = readdir(entries)))
		if (strncmp(entry->d_name, "rank-", 5) == 0 && strcmp(entry->d_name, own) != 0)
			visit(recovery, fd, entry->d_name);
	closedir(entries);
}

static void add_if(struct recovery *recovery, int folder_fd, const char *name, bool family)
{
	struct spool_image *image = malloc(sizeof(*image));
	char why[256];

	if (!image)
		return;
	if (spool_image_read(image, folder_fd, name, why, sizeof(why)) == 0) {
		if (image->owned && (image->facts.family || !family))
			recovery_add(recovery, image, why, sizeof(why));
		spool_image_fini(image);
	}
	free(image);
}

static void add_sibling(struct recovery *recovery, int folder_fd, const char *name)
{
	add_if(recovery, folder_fd, name, true);
}

static void add_rank(struct recovery *recovery, int folder_fd, const char *name)
{
	add_if(recovery, folder_fd, name, false);
}

static void remove_file(struct recovery *recovery, int folder_fd, const char *name)
{
	(void)recovery;
	unlinkat(folder_fd, name, 0);
}

struct recovery *siblings_read(const char *folder, int but)
{
	struct recovery *recovery = recovery_new();

	if (recovery)
		each(folder, but, add_sibling, recovery);
	return recovery;
}

struct recovery *siblings_ranks(const char *folder)
{
	struct recovery *recovery = recovery_new();

	if (recovery)
		each(folder, NO_RANK, add_rank, recovery);
	return recovery;
}

void siblings_remove(const char *folder, int but)
{
	each(folder, but, remove_file, NULL);
}
