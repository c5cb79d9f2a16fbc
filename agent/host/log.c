/* SPDX-License-Identifier: BSD-3-Clause */
#include "agent/host/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/host/launcher.h"
#include "agent/host/quiet.h"

/* The wait for the reader of a pipe: in all 0.1 s. */
#define UNREAD_TRIES    500
#define UNREAD_PAUSE_US 200

/* Longest part of a text that is written at once. Open MPI's launcher reads 4,096 bytes at once. */
#define PART 2048

/* -1: not decided yet */
static int speaker = -1;

/* File that stderr was at log_open. Zero means not known, because no file has this number. */
static dev_t stderr_device;
static ino_t stderr_inode;

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

	if (fstat(STDERR_FILENO, &file) == 0) {
		stderr_device = file.st_dev;
		stderr_inode = file.st_ino;
	}
}

/* Waits until the reader of stderr has read all, if stderr is a pipe. Returns whether it has. */
static bool wait_read(void)
{
	struct stat file;
	int unread;

	if (fstat(STDERR_FILENO, &file) != 0 || !S_ISFIFO(file.st_mode))
		return true;
	for (int tries = 0; tries < UNREAD_TRIES; tries++) {
		if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0)
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
	struct stat file;
	bool reads = length > PART;

	/* a daemon closes descriptors, and descriptor 2 may now be a file of the program's data */
	if (fstat(STDERR_FILENO, &file) != 0 || file.st_dev != stderr_device ||
			file.st_ino != stderr_inode || quiet_hand_over(text, length))
		return;
	while (length > 0) {
		size_t part = part_of(text, length);

		reads = reads && wait_read();
		quiet_tell(text, part);
		text += part;
		length -= part;
	}
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
		wait_read();
}
