/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/recover/archive.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/results/spools.h"

/* Paths come after it. Without -T, tar refuses to make an archive of none. */
static const char *const pack[] = { "tar", "-c", "-f", "-", "-C", "/", "-T", "/dev/null" };
#define PACK_WORDS (sizeof(pack) / sizeof(*pack))

/* Words of a command, which end with NULL. */
struct list {
	char **word;
	size_t count, room;
	bool failed; /* there was no memory */
};

/* Adds a copy of a word. */
static void list_add(struct list *list, const char *text)
{
	if (list->count + 2 > list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		char **word = realloc(list->word, room * sizeof(*word));

		if (!word) {
			list->failed = true;
			return;
		}
		list->word = word;
		list->room = room;
	}
	list->word[list->count] = strdup(text);
	list->failed |= !list->word[list->count];
	list->word[++list->count] = NULL;
}

static void list_free(struct list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->word[i]);
	free(list->word);
}

/* Starts a command with the null device, or `in`, as its stdin. out: its stdout; -1: that of this process. */
static pid_t start_command(char *const *words, int in, int out)
{
	posix_spawn_file_actions_t actions;
	pid_t child = -1;
	int error = posix_spawn_file_actions_init(&actions);

	if (!error) {
		error = in < 0 ? posix_spawn_file_actions_addopen(&actions, STDIN_FILENO,
						 "/dev/null", O_RDONLY, 0) :
				 posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
		if (!error && out >= 0)
			error = posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
		if (!error)
			error = posix_spawnp(&child, words[0], &actions, NULL, words, environ);
		posix_spawn_file_actions_destroy(&actions);
	}
	if (error)
		fprintf(stderr, "phasemux: cannot start %s: %s\n", words[0], strerror(error));
	return error ? -1 : child;
}

/* Waits for a command. Returns its exit code, 128 + its signal, or -1 if it was not started. */
static int end_command(pid_t child)
{
	int status = 0;

	if (child < 0)
		return -1;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Is a `visit`: adds the path of a rank's file. */
static void add_path(struct spools *spools, int folder_fd, const char *folder, const char *name)
{
	char full[PATH_MAX], path[2 * PATH_MAX];

	(void)folder_fd;
	if (!realpath(folder, full)) {
		fprintf(stderr, "phasemux: %s: %s\n", folder, strerror(errno));
		spools->failed = true;
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", full + 1, name);
	list_add(spools->data, path);
}

/* Finds the ranks' files in those folders that exist. Returns false after a line on stderr. */
static bool find(struct list *list, char **folders, int count)
{
	struct spools *spools = calloc(1, sizeof(*spools));
	bool found;

	if (!spools)
		return false;
	spools->visit = add_path;
	spools->data = list;
	if (!count)
		spools_visit(spools, NULL, 0);
	for (int i = 0; i < count; i++)
		if (access(folders[i], F_OK) == 0 || errno != ENOENT)
			spools_visit(spools, &folders[i], 1);
	if (list->failed)
		fputs("phasemux: no memory\n", stderr);
	found = !spools->failed && !list->failed;
	free(spools);
	return found;
}

/* Removes the files that were sent, and their folders. */
static bool remove_sent(const struct list *list)
{
	bool removed = true;

	for (size_t i = PACK_WORDS; i < list->count; i++) {
		char path[2 * PATH_MAX];

		snprintf(path, sizeof(path), "/%s", list->word[i]);
		if (unlink(path)) {
			fprintf(stderr, "phasemux: %s: %s\n", path, strerror(errno));
			removed = false;
			continue;
		}
		*strrchr(path, '/') = '\0';
		spools_remove_folders(path);
	}
	return removed;
}

int archive_send(char **folders, int count, bool remove)
{
	struct list list = { 0 };
	int code = 1;

	for (size_t i = 0; i < PACK_WORDS; i++)
		list_add(&list, pack[i]);
	if (!list.failed && find(&list, folders, count)) {
		code = end_command(start_command(list.word, -1, -1)) != 0;
		if (!code && remove)
			code = !remove_sent(&list);
	}
	list_free(&list);
	return code;
}

/* Says how a command ended. Returns whether that was well. */
static bool judge_end(const char *name, const char *command, int code)
{
	if (code > 128)
		fprintf(stderr, "phasemux: %s: %s was killed by signal %d\n", name, command,
				code - 128);
	else if (code > 0)
		fprintf(stderr, "phasemux: %s: %s ended with exit code %d\n", name, command, code);
	else if (code < 0)
		fprintf(stderr, "phasemux: %s: %s did not run\n", name, command);
	return code == 0;
}

bool archive_take(const char *name, char *const *words, const char *folder)
{
	char *const unpack[] = { "tar", "-x", "-f", "-", "-C", (char *)folder, NULL };
	pid_t sender, receiver = -1;
	bool taken;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC)) {
		fprintf(stderr, "phasemux: %s\n", strerror(errno));
		return false;
	}
	if (!folder) {
		close(ends[1]);
		ends[1] = open("/dev/null", O_WRONLY | O_CLOEXEC);
	}
	sender = start_command(words, -1, ends[1]);
	close(ends[1]);
	if (folder)
		receiver = start_command(unpack, ends[0], -1);
	close(ends[0]);
	taken = judge_end(name, words[0], end_command(sender));
	if (folder && !judge_end(name, unpack[0], end_command(receiver)))
		taken = false;
	return taken;
}
