/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that a reader of stderr which reads as launchers do gets whole lines each time, also of a long text. */
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/host/log.h"
#include "tests/tap.h"

#define LENGTH  20000
#define AT_ONCE 4096 /* what Open MPI's launcher reads at once */
#define TRIES   5    /* a machine may be busy with other work for longer than the writer waits */

static char text[LENGTH];

/* Reads to the end. Returns 0: all of the text, in whole lines; 1: not in whole lines; 2: not the text. */
static int read_all(int fd)
{
	static char got[LENGTH + AT_ONCE];
	size_t length = 0;
	bool whole = true;
	ssize_t part;

	/* the writer is faster */
	while (usleep(2000), (part = read(fd, got + length, AT_ONCE)) > 0 && length < LENGTH) {
		length += (size_t)part;
		whole = whole && got[length - 1] == '\n';
	}
	return length != LENGTH || memcmp(got, text, LENGTH) != 0 ? 2 : !whole;
}

/* Writes the text to a child. Returns what it says of it. */
static int write_to_child(void)
{
	int ends[2], status, kept = dup(STDERR_FILENO);
	pid_t child;

	if (pipe(ends))
		return -1;
	child = fork();
	if (child == 0) {
		close(ends[1]);
		_exit(read_all(ends[0]));
	}
	close(ends[0]);
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	log_open();
	log_text(text, LENGTH);
	dup2(kept, STDERR_FILENO);
	close(kept);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}

/* The pipe, which no process reads, has room for the text. */
static bool goes_on_without_reader(void)
{
	int ends[2], kept = dup(STDERR_FILENO);
	char part[AT_ONCE];
	size_t length = 0;
	ssize_t got;

	if (pipe(ends))
		return false;
	dup2(ends[1], STDERR_FILENO);
	close(ends[1]);
	log_open();
	log_text(text, LENGTH);
	dup2(kept, STDERR_FILENO);
	close(kept);
	while ((got = read(ends[0], part, sizeof(part))) > 0)
		length += (size_t)got;
	close(ends[0]);
	return length == LENGTH;
}

int main(void)
{
	int result = 1;

	for (int i = 0; i < LENGTH; i++)
		text[i] = i % 61 == 60 || i == LENGTH - 1 ? '\n' : (char)('a' + i / 61 % 26);
	for (int i = 0; i < TRIES && result == 1; i++)
		result = write_to_child();
	is_int(result, 0, "a long text arrives, and each time in whole lines");
	ok(goes_on_without_reader(), "and if no process reads it, it is written nevertheless");
	return tap_done();
}
