/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/cluster/input.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const packers[][2] = { { ".gz", "gzip" }, { ".xz", "xz" } };

static bool ends_with(const char *text, const char *ending)
{
	size_t length = strlen(text), tail = strlen(ending);

	return length >= tail && strcmp(text + length - tail, ending) == 0;
}

static int open_unpacked(struct input *input, const char *packer, int file)
{
	char *arguments[] = { (char *)packer, "-dc", NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], error;

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	error = posix_spawn_file_actions_init(&actions);
	if (!error) {
		error = posix_spawn_file_actions_adddup2(&actions, file, STDIN_FILENO);
		if (!error)
			error = posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
		if (!error)
			error = posix_spawnp(&input->child, packer, &actions, NULL, arguments,
					environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	close(ends[1]);
	if (!error)
		input->file = fdopen(ends[0], "r");
	if (!input->file)
		close(ends[0]);
	return -error;
}

int input_open(struct input *input, const char *path)
{
	const char *packer = NULL;
	int file = open(path, O_RDONLY | O_CLOEXEC), error = 0;

	*input = (struct input){ 0 };
	if (file < 0)
		return -errno;
	for (size_t i = 0; i < sizeof(packers) / sizeof(*packers); i++)
		if (ends_with(path, packers[i][0]))
			packer = packers[i][1];
	if (packer) {
		error = open_unpacked(input, packer, file);
		close(file);
	} else {
		input->file = fdopen(file, "r");
	}
	return error ? error : input->file ? 0 : -ENOMEM;
}

int input_close(struct input *input)
{
	int status = 0;

	fclose(input->file);
	/* if the pipe is closed before its end, SIGPIPE ends the child, which is no error of the file */
	if (input->child &&
			(waitpid(input->child, &status, 0) != input->child ||
					(status &&
							!(WIFSIGNALED(status) &&
									WTERMSIG(status) ==
											SIGPIPE))))
		return -EIO;
	return 0;
}

bool input_is_trace(const char *path)
{
	return ends_with(path, ".prv") || ends_with(path, ".prv.gz") || ends_with(path, ".prv.xz");
}

bool input_beside(const char *path, const char *ending, bool look, char *name, size_t size)
{
	const char *stem = path;
	size_t length;

	for (const char *at = path; (at = strstr(at, ".prv")); at++)
		stem = at;
	length = stem == path ? strlen(path) : (size_t)(stem - path);
	if (length + strlen(ending) + 4 > size)
		return false;
	snprintf(name, size, "%.*s%s", (int)length, path, ending);
	if (!look || access(name, R_OK) == 0)
		return true;
	for (size_t i = 0; i < sizeof(packers) / sizeof(*packers); i++) {
		snprintf(name, size, "%.*s%s%s", (int)length, path, ending, packers[i][0]);
		if (access(name, R_OK) == 0)
			return true;
	}
	return false;
}
