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
#include "tools/options.h"

#define ANCESTORS_MAX 64 /* between a launcher and a rank */

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

/* ---- runs that run ---- */

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return fopen(path, "re");
}

static bool is_mapped(pid_t pid, const char *folder, const char *name)
{
	const char *slash = strrchr(folder, '/');
	char ending[NAME_MAX + 32], *line = NULL;
	FILE *maps = open_proc(pid, "maps");
	bool found = false;
	size_t room = 0;
	ssize_t length;

	if (!maps)
		return false;
	snprintf(ending, sizeof(ending), "/%s/%s\n", slash ? slash + 1 : folder, name);
	while (!found && (length = getline(&line, &room, maps)) >= 0)
		found = (size_t)length >= strlen(ending) &&
				strcmp(line + length - strlen(ending), ending) == 0;
	free(line);
	fclose(maps);
	return found;
}

static pid_t parent_of(pid_t pid)
{
	FILE *stat = open_proc(pid, "stat");
	char line[512] = "", *end;
	int parent = 0;

	if (!stat)
		return 0;
	if (!fgets(line, sizeof(line), stat))
		line[0] = 0;
	fclose(stat);
	/* the name of the program, in parentheses, may contain parentheses */
	end = strrchr(line, ')');
	return end && sscanf(end, ") %*c %d", &parent) == 1 ? parent : 0;
}

static bool descends(pid_t pid, pid_t from)
{
	for (unsigned i = 0; pid > 0 && i < ANCESTORS_MAX; i++) {
		if (pid == from)
			return true;
		pid = parent_of(pid);
	}
	return false;
}

void spools_find_rank(struct spools *spools, int folder_fd, const char *folder, const char *name)
{
	struct spools_sought *sought = spools->data;
	struct spool_image *image = malloc(sizeof(*image));
	const struct spool_facts *facts = image ? &image->facts : NULL;
	struct spools_run *run;
	char why[256];

	if (!image || spool_image_read(image, folder_fd, name, why, sizeof(why))) {
		free(image);
		return;
	}
	/* a process that got the number later has not mapped the file */
	if (is_mapped((pid_t)facts->pid, folder, name) &&
			(!sought->pid || descends((pid_t)facts->pid, sought->pid)) &&
			(!sought->output || !strcmp(sought->output, facts->output))) {
		run = spools_find_run(spools, facts, folder);
		if (run)
			run->ranks++;
		snprintf(sought->found, sizeof(sought->found), "%s", facts->output);
	}
	spool_image_fini(image);
	free(image);
}

/* Folders with files of ranks that are mapped. */
struct folders {
	char *path[SPOOLS_RUNS_MAX +
			1]; /* one more than runs can be listed, so that all are too many */
	int count;
};

/* Adds the folder of a mapped file if that is the file of a rank: "... /dev/shm/phasemux.0/6b3933b6c566e/rank-0\n". */
static void add_mapped(struct folders *folders, char *line)
{
	char *path = strchr(line, '/'), *slash = path ? strrchr(path, '/') : NULL, *run;

	if (!slash || slash == path || strncmp(slash, "/rank-", 6) != 0 ||
			strspn(slash + 6, "0123456789") + 1 != strlen(slash + 6))
		return;
	*slash = 0;
	run = strrchr(path, '/') + 1;
	if (!spools_is_ours(run))
		return;
	for (int i = 0; i < folders->count; i++)
		if (strcmp(folders->path[i], path) == 0)
			return;
	if (folders->count <= SPOOLS_RUNS_MAX && (folders->path[folders->count] = strdup(path)))
		folders->count++;
}

static void add_process(struct folders *folders, pid_t pid)
{
	FILE *maps = open_proc(pid, "maps");
	char *line = NULL;
	size_t room = 0;

	if (!maps)
		return;
	while (getline(&line, &room, maps) >= 0)
		add_mapped(folders, line);
	free(line);
	fclose(maps);
}

/* Finds the folders of the runs of a process and of those that it has started; 0: of all processes of this user. */
static void find_folders(struct folders *folders, pid_t from)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && (entry = readdir(processes))) {
		size_t pid;

		if (option_whole(entry->d_name, 1, INT_MAX, &pid) &&
				(!from || descends((pid_t)pid, from)))
			add_process(folders, (pid_t)pid);
	}
	if (processes)
		closedir(processes);
}

void spools_visit_running(struct spools *spools, pid_t from)
{
	struct folders folders = { .count = 0 };

	find_folders(&folders, from);
	for (int i = 0; i < folders.count; i++) {
		/* a run that has ended meanwhile has no folder any more */
		spools_visit_folder(spools, folders.path[i], 0, 0);
		free(folders.path[i]);
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

/* Says in a report where the program was stopped, if it was. */
static void note_stop(json_t *report)
{
	json_t *recovered = json_object_get(report, "recovered");
	const char *text = getenv(SPOOLS_STOPPED);
	double seconds, iterations;

	if (!recovered || !text || sscanf(text, "%lf %lf", &seconds, &iterations) != 2)
		return;
	json_object_set_new(recovered, "stopped",
			json_pack("{s:f,s:o}", "seconds", seconds, "iterations",
					iterations > 0 ? json_integer((json_int_t)iterations) :
							 json_null()));
}

json_t *spools_report(const struct spools *spools)
{
	char kin[PATH_MAX];
	json_t *report;

	if (machine_find_kin(kin, sizeof(kin)))
		*kin = '\0';
	report = recovery_report(spools->recovery, kin);
	note_stop(report);
	return report;
}

json_t *spools_report_run(struct spools *spools, const struct spools_run *run)
{
	json_t *report = NULL;

	recovery_free(spools->recovery);
	spools->recovery = recovery_new();
	if (spools->recovery) {
		spools->visit = spools_add_rank;
		spools_visit_folder(spools, run->folder, 0, O_NOFOLLOW);
		report = spools_report(spools);
	}
	if (!report)
		fprintf(stderr, "phasemux: no memory\n");
	return report;
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
