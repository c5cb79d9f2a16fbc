/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/log.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/launcher.h"
#include "agent/host/quiet.h"
#include "sampling/descriptor.h"

/* The wait for the reader of a pipe: in all 0.1 s. */
#define UNREAD_TRIES    500
#define UNREAD_PAUSE_US 200

/* Longest part of a text that is written at once. Open MPI's launcher reads 4,096 bytes at once. */
#define PART 2048

/* -1: not decided yet */
static int speaker = -1;

/* What stderr was at log_open. */
static struct {
	dev_t device;
	ino_t inode;     /* 0: not known, because no file has this number */
	char path[4096]; /* of a file or a terminal; "": not known */
	pid_t session;   /* of this process */
} original;

static _Atomic int held = -1; /* another descriptor of the original stderr; -1: there is none */

void log_speaker(bool speaks)
{
	speaker = speaks;
}

bool log_speaks(void)
{
	if (speaker < 0)
		speaker = launcher_rank() <= 0;
	return speaker;
}

void log_open(void)
{
	struct stat file;

	if (fstat(STDERR_FILENO, &file))
		return;
	original.device = file.st_dev;
	original.inode = file.st_ino;
	original.session = getsid(0);
	if (S_ISREG(file.st_mode) || isatty(STDERR_FILENO)) {
		ssize_t length = readlink("/proc/self/fd/2", original.path,
				sizeof(original.path) - 1);

		original.path[length > 0 ? length : 0] = '\0';
	}
}

/* Returns whether a descriptor is of the file that stderr was at log_open. */
static bool is_of_stderr(int fd)
{
	struct stat file;

	return fstat(fd, &file) == 0 && file.st_dev == original.device &&
			file.st_ino == original.inode;
}

/* Opens the original stderr again. Returns a descriptor, or -1 if it has no path, or this process is a daemon now. */
static int reopen_stderr(void)
{
	int fd;

	if (!*original.path || original.session != getsid(0))
		return -1;
	/* it may be another file now, which would wait for a reader */
	fd = open(original.path, O_WRONLY | O_APPEND | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -1;
	if (is_of_stderr(fd) && fcntl(fd, F_SETFL, O_APPEND) == 0)
		return fd;
	close(fd);
	return -1;
}

/* Returns the descriptor that is held; -1: there is none, or the program has closed it. */
static int find_held(void)
{
	return held >= 0 && is_of_stderr(held) ? held : -1;
}

void log_hold(void)
{
	if (find_held() < 0 && is_of_stderr(STDERR_FILENO))
		held = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, descriptor_lowest());
}

void log_release(void)
{
	int fd = find_held();

	held = -1;
	if (fd >= 0)
		close(fd);
}

void log_hold_at_exit(void)
{
	static bool registered;

	if (!registered)
		registered = atexit(log_hold) == 0;
}

/* Waits until the reader has read all, if the descriptor is a pipe. Returns whether it has. */
static bool wait_read(int fd)
{
	struct stat file;
	int unread;

	if (fstat(fd, &file) != 0 || !S_ISFIFO(file.st_mode))
		return true;
	for (int tries = 0; tries < UNREAD_TRIES; tries++) {
		if (ioctl(fd, FIONREAD, &unread) != 0 || unread == 0)
			return true;
		usleep(UNREAD_PAUSE_US);
	}
	return false;
}

/* Returns the length of the lines at the start of a text that are written at once. */
static size_t part_of(const char *text, size_t length)
{
	const char *end;

	if (length <= PART)
		return length;
	end = memrchr(text, '\n', PART);
	return end ? (size_t)(end - text) + 1 : PART;
}

void log_text(const char *text, size_t length)
{
	bool reads = length > PART;
	/* a daemon closes descriptors, and descriptor 2 may now be a file of the program's data */
	int opened = -1, fd = is_of_stderr(STDERR_FILENO) ? STDERR_FILENO : find_held();

	if (fd < 0)
		fd = opened = reopen_stderr();
	if (fd < 0 || quiet_hand_over(text, length))
		length = 0;
	while (length > 0) {
		size_t part = part_of(text, length);

		reads = reads && wait_read(fd);
		quiet_tell(fd, text, part);
		text += part;
		length -= part;
	}
	if (opened >= 0)
		close(opened);
}

void log_line(const char *format, ...)
{
	char line[1024] = "phasemux: ";
	size_t length = strlen(line);
	va_list arguments;
	int added;

	if (!log_speaks())
		return;
	va_start(arguments, format);
	added = vsnprintf(line + length, sizeof(line) - length - 1, format, arguments);
	va_end(arguments);
	if (added < 0)
		return;
	length = length + (size_t)added < sizeof(line) - 2 ? length + (size_t)added :
							     sizeof(line) - 2;
	line[length++] = '\n';
	log_text(line, length);
}

void log_wait_read(void)
{
	if (log_speaks())
		wait_read(STDERR_FILENO);
}
