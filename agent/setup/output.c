/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/setup/output.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/quiet.h"

static void expand(char letter, const struct job *job, char *text, size_t size)
{
	if (letter == 'j' && *job->id)
		snprintf(text, size, "%s", job->id);
	else if (letter == 'j' || letter == 'p')
		snprintf(text, size, "%ld", (long)getpid());
	else if (letter == 'h' && gethostname(text, size) == 0)
		text[size - 1] = '\0';
	else
		snprintf(text, size, "%%");
}

int output_folder(const char *pattern, const struct job *job, char *folder, size_t size)
{
	size_t length = 0;

	if (*pattern != '/') {
		if (!getcwd(folder, size))
			return -ENAMETOOLONG;
		length = strlen(folder);
		if (length + 1 >= size)
			return -ENAMETOOLONG;
		folder[length++] = '/';
	}
	for (; *pattern; pattern++) {
		char text[HOST_NAME_MAX + 1] = { *pattern };
		size_t more;

		if (*pattern == '%' && pattern[1])
			expand(*++pattern, job, text, sizeof(text));
		more = strlen(text);
		if (length + more >= size)
			return -ENAMETOOLONG;
		memcpy(folder + length, text, more);
		length += more;
	}
	folder[length] = '\0';
	if (*job->step &&
			snprintf(folder + length, size - length, "/" OUTPUT_STEP "%s", job->step) >=
					(int)(size - length))
		return -ENAMETOOLONG;
	return 0;
}

/* Creates a folder if it is missing, and opens it. Returns -EPERM if other users own it or can write to it. */
static int open_own(int at, const char *folder)
{
	struct stat status;
	int fd;

	if (mkdirat(at, folder, 0700) && errno != EEXIST)
		return -errno;
	fd = openat(at, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &status) || status.st_uid != geteuid() ||
			(status.st_mode & (S_IWGRP | S_IWOTH))) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int output_open(const char *folder)
{
	const char *step = strrchr(folder, '/');
	char job[PATH_MAX];
	int job_fd, fd;

	if (!step || step == folder || strncmp(step + 1, OUTPUT_STEP, strlen(OUTPUT_STEP)) != 0)
		return open_own(AT_FDCWD, folder);
	if (step - folder >= (int)sizeof(job))
		return -ENAMETOOLONG;
	memcpy(job, folder, (size_t)(step - folder));
	job[step - folder] = '\0';
	job_fd = open_own(AT_FDCWD, job);
	if (job_fd < 0)
		return job_fd;
	fd = open_own(job_fd, step + 1);
	close(job_fd);
	return fd;
}

static void name_file(char *name, size_t size, const char *base, unsigned number,
		const char *suffix)
{
	if (number == 1)
		snprintf(name, size, "%s.%s", base, suffix);
	else
		snprintf(name, size, "%s-%u.%s", base, number, suffix);
}

unsigned output_number(int folder_fd, const struct output_name *files, unsigned count)
{
	for (unsigned number = 1; number < 1000; number++) {
		unsigned there = 0;

		for (unsigned i = 0; i < count; i++) {
			char name[NAME_MAX];
			struct stat status;

			name_file(name, sizeof(name), files[i].base, number, files[i].suffix);
			there += fstatat(folder_fd, name, &status, AT_SYMLINK_NOFOLLOW) == 0;
		}
		if (!there)
			return number;
	}
	return 0;
}

int output_write(int folder_fd, const char *base, unsigned number, const char *suffix,
		const char *text, size_t length)
{
	char name[NAME_MAX];
	struct rlimit limit;
	int fd, error;

	/* a part of the file would be useless */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < length)
		return -EFBIG;
	name_file(name, sizeof(name), base, number, suffix);
	fd = openat(folder_fd, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	error = quiet_write(fd, text, length);
	if (close(fd) && !error)
		error = -errno;
	if (error)
		unlinkat(folder_fd, name, 0);
	return error;
}

unsigned output_count(int folder_fd, const char *start)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *folder = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *file;
	unsigned count = 0;

	if (!folder) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	while ((file = readdir(folder)))
		count += strncmp(file->d_name, start, strlen(start)) == 0;
	closedir(folder);
	return count;
}

void output_remove(int folder_fd, const char *base, unsigned number, const char *suffix)
{
	char name[NAME_MAX];

	name_file(name, sizeof(name), base, number, suffix);
	unlinkat(folder_fd, name, 0);
}
