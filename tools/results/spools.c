/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/results/spools.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tools/machine.h"

struct spools_run *spools_find_run(struct spools *spools, const struct spool_facts *facts,
		const char *folder)
{
	struct spools_run *run;
	size_t length = 0;

	for (unsigned i = 0; i < spools->runs; i++)
		if (spools->run[i].number == facts->run)
			return &spools->run[i];
	if (spools->runs == SPOOLS_RUNS_MAX)
		return NULL;
	run = &spools->run[spools->runs++];
	run->number = facts->run;
	run->started = facts->started;
	run->size = facts->family ? 0 : (unsigned)facts->size;
	snprintf(run->folder, sizeof(run->folder), "%s", folder);
	for (; length < facts->command_bytes && length < sizeof(run->command) - 1; length++) {
		char letter = facts->command[length];

		run->command[length] = (unsigned char)letter >= ' ' ? letter : ' ';
	}
	return run;
}

void spools_add_rank(struct spools *spools, int folder_fd, const char *folder, const char *name)
{
	struct spool_image *image = malloc(sizeof(*image));
	char why[256] = "no memory";
	struct spools_run *run;
	int error = image ? spool_image_read(image, folder_fd, name, why, sizeof(why)) : -ENOMEM;

	if (error) {
		fprintf(stderr, "phasemux: %s/%s is left out: %s\n", folder, name, why);
		free(image);
		return;
	}
	run = spools_find_run(spools, &image->facts, folder);
	if (run)
		run->ranks++;
	error = recovery_add(spools->recovery, image, why, sizeof(why));
	/* a file of another run is listed later */
	if (error && error != -EXDEV)
		fprintf(stderr, "phasemux: %s/%s is left out: %s\n", folder, name, why);
	spools->failed |= error == -ENOMEM;
	spool_image_fini(image);
	free(image);
}

/* Returns whether the name is like "rank-17". */
static bool is_rank(const char *name)
{
	return strncmp(name, "rank-", 5) == 0 && name[5] &&
			strspn(name + 5, "0123456789") == strlen(name + 5);
}

bool spools_is_ours(const char *name)
{
	return strncmp(name, "phasemux.", 9) == 0 ||
			(strlen(name) == 13 && strspn(name, "0123456789abcdef") == 13);
}

int spools_visit_folder(struct spools *spools, const char *folder, int depth, int flags)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags);
	DIR *entries = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!entries)
		return -errno;
	while ((entry = readdir(entries))) {
		char inner[PATH_MAX];

		if (is_rank(entry->d_name))
			spools->visit(spools, fd, folder, entry->d_name);
		else if (depth && spools_is_ours(entry->d_name) &&
				snprintf(inner, sizeof(inner), "%s/%s", folder, entry->d_name) <
						(int)sizeof(inner))
			spools_visit_folder(spools, inner, depth - 1, O_NOFOLLOW);
	}
	closedir(entries);
	return 0;
}

void spools_visit(struct spools *spools, char **folders, int count)
{
	static const char *const usual[] = { "/dev/shm", "/tmp" };
	char own[64];

	for (int i = 0; i < count; i++) {
		int error = spools_visit_folder(spools, folders[i], 2, 0);

		if (error)
			fprintf(stderr, "phasemux: %s: %s\n", folders[i], strerror(-error));
		spools->failed |= error != 0;
	}
	for (size_t i = 0; !count && i < sizeof(usual) / sizeof(*usual); i++) {
		snprintf(own, sizeof(own), "%s/phasemux.%u", usual[i], (unsigned)geteuid());
		spools_visit_folder(spools, own, 1, O_NOFOLLOW);
	}
}

void spools_list(const struct spools *spools)
{
	fprintf(stderr, "phasemux: there are %u runs; name the one:\n", spools->runs);
	for (unsigned i = 0; i < spools->runs; i++) {
		const struct spools_run *run = &spools->run[i];
		time_t started = (time_t)run->started;
		char when[32] = "?";
		struct tm parts;

		if (localtime_r(&started, &parts))
			strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S", &parts);
		if (run->size)
			fprintf(stderr, "  %s  %s  %u of %u ranks  %s\n", run->folder, when,
					run->ranks, run->size, run->command);
		else
			fprintf(stderr, "  %s  %s  %u processes  %s\n", run->folder, when,
					run->ranks, run->command);
	}
}

json_t *spools_report(const struct spools *spools)
{
	char kin[PATH_MAX];

	if (machine_find_kin(kin, sizeof(kin)))
		*kin = '\0';
	return recovery_report(spools->recovery, kin);
}

void spools_remove_folders(char *folder)
{
	char *slash = strrchr(folder, '/');

	if (rmdir(folder) == 0 && slash && slash > folder) {
		*slash = '\0';
		if (spools_is_ours(strrchr(folder, '/') ? strrchr(folder, '/') + 1 : folder))
			rmdir(folder);
	}
}
