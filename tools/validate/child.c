/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/validate/child.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static size_t length_of(const char *const *words)
{
	size_t length = 0;

	while (words[length])
		length++;
	return length;
}

/* Becomes `phasemux run`, with its output in the log. Returns if that fails. */
static void become(const char *const *options, const char *folder, char **command)
{
	char self[PATH_MAX], log[PATH_MAX + 64];
	const char *const ends[] = { "--output", folder, "--" };
	size_t more = length_of(options), words = length_of((const char *const *)command), at = 2;
	const char **argv = calloc(2 + more + 3 + words + 1, sizeof(*argv));
	ssize_t size = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int fd;

	if (size < 0 || !argv) {
		free(argv);
		return;
	}
	self[size] = 0;
	argv[0] = self;
	argv[1] = "run";
	memcpy(argv + at, options, more * sizeof(*argv));
	at += more;
	memcpy(argv + at, ends, sizeof(ends));
	at += sizeof(ends) / sizeof(*ends);
	memcpy(argv + at, command, words * sizeof(*argv));
	snprintf(log, sizeof(log), "%s.log", folder);
	fd = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0 && dup2(fd, STDERR_FILENO) >= 0)
		execv(self, (char *const *)argv);
	free(argv);
}

/* Shows the last lines of the output of a failed run. */
static void show_log(const char *folder)
{
	char path[PATH_MAX + 64], line[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s.log", folder);
	file = fopen(path, "r");
	if (!file)
		return;
	if (fseek(file, -2000, SEEK_END) == 0 && !fgets(line, sizeof(line), file))
		rewind(file);
	while (fgets(line, sizeof(line), file))
		fprintf(stderr, "  %s", line);
	fclose(file);
}

json_t *child_run(const char *const *options, const char *folder, char **command)
{
	char path[PATH_MAX + 64];
	json_error_t error;
	json_t *report;
	int status = -1;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		become(options, folder, command);
		_exit(127);
	}
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		continue;
	snprintf(path, sizeof(path), "%s/report.json", folder);
	/* the program may end with any code */
	report = child > 0 ? json_load_file(path, 0, &error) : NULL;
	if (!report) {
		fprintf(stderr, "phasemux: %s left no report:\n", command[0]);
		show_log(folder);
	}
	return report;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	(void)status, (void)type, (void)ftw;
	return remove(path);
}

void child_remove(const char *folder)
{
	nftw(folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
