/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/recover/gather.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/recover/archive.h"
#include "tools/validate/child.h"

#define HOST_MAX 256 /* bytes of a host's name */

/* Copies the next name of a comma list, and goes to the one after it. Returns false at the end. */
static bool next_host(const char **list, char host[HOST_MAX])
{
	size_t length = strcspn(*list, ",");

	if (!**list)
		return false;
	/* a name that is too long becomes an invalid one */
	snprintf(host, HOST_MAX, "%.*s", length < HOST_MAX ? (int)length : 0, *list);
	*list += length + ((*list)[length] == ',');
	return true;
}

/* Returns whether the list has the host before `end`. */
static bool has_host(const char *list, const char *end, const char *host)
{
	char other[HOST_MAX];

	while (list < end && next_host(&list, other))
		if (strcmp(other, host) == 0)
			return true;
	return false;
}

bool gather_hosts_are_valid(const char *hosts)
{
	char host[HOST_MAX];
	const char *at = hosts, *here = hosts;

	if (!*hosts)
		return false;
	for (; next_host(&at, host); here = at)
		if (!*host || strchr("-.", *host) || strpbrk(host, "/ ") ||
				has_host(hosts, here, host))
			return false;
	return true;
}

/* ---- the command that starts phasemux on a host ---- */

/* Words that end with NULL, of which the first ones are parts of `text`. */
struct command {
	char *text;
	char **word;
};

static void command_free(struct command *command)
{
	free(command->text);
	free(command->word);
}

/* Makes "VIA HOST phasemux recover --send [--remove] FOLDER...". Returns false if there is no memory. */
static bool command_make(struct command *command, const struct gather *gather, char *host,
		char *self, bool remove)
{
	char *rest = NULL;
	size_t count = 0;

	command->text = strdup(gather->via);
	command->word = calloc(strlen(gather->via) + 8 + (size_t)gather->count,
			sizeof(*command->word));
	if (!command->text || !command->word) {
		fputs("phasemux: no memory\n", stderr);
		return false;
	}
	for (char *word = strtok_r(command->text, " ", &rest); word;
			word = strtok_r(NULL, " ", &rest))
		command->word[count++] = word;
	command->word[count++] = host;
	command->word[count++] = self;
	command->word[count++] = (char *)"recover";
	command->word[count++] = (char *)"--send";
	if (remove)
		command->word[count++] = (char *)"--remove";
	for (int i = 0; i < gather->count; i++)
		command->word[count++] = gather->folders[i];
	return true;
}

/* Lets a host send, with `remove` for the last time, to a folder, or if it is NULL to nowhere. */
static bool ask(const struct gather *gather, char *host, const char *folder, bool remove)
{
	struct command command = { 0 };
	char self[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	bool answered = false;

	if (length > 0) {
		self[length] = '\0';
		answered = command_make(&command, gather, host, self, remove) &&
				archive_take(host, command.word, folder);
	}
	command_free(&command);
	return answered;
}

/* ---- what was found ---- */

static struct gather *finding; /* nftw() has no argument for its caller's data */

static int add_found(const char *path, const struct stat *status, int type, struct FTW *ftw)
{
	char **found;

	(void)status;
	if (type != FTW_F || strncmp(path + ftw->base, "rank-", 5) != 0)
		return 0;
	for (int i = 0; i < finding->found_count; i++)
		if (strlen(finding->found[i]) + 1 == (size_t)ftw->base &&
				strncmp(finding->found[i], path, strlen(finding->found[i])) == 0)
			return 0;
	found = realloc(finding->found, ((size_t)finding->found_count + 1) * sizeof(*found));
	if (!found)
		return -1;
	finding->found = found;
	found[finding->found_count] = strndup(path, (size_t)ftw->base - 1);
	return found[finding->found_count] ? (finding->found_count++, 0) : -1;
}

/* Makes the folder of a host. Returns its path, or NULL after a line on stderr. */
static const char *folder_of(const struct gather *gather, const char *host, char *folder,
		size_t size)
{
	if (snprintf(folder, size, "%s/%s", gather->place, host) < (int)size &&
			mkdir(folder, 0700) == 0)
		return folder;
	fprintf(stderr, "phasemux: %s: %s\n", folder, strerror(errno));
	return NULL;
}

static void fetch_from(struct gather *gather, char *host)
{
	char folder[PATH_MAX];
	int before = gather->found_count;

	if (!folder_of(gather, host, folder, sizeof(folder)) || !ask(gather, host, folder, false)) {
		fprintf(stderr, "phasemux: %s is left out\n", host);
		gather->complete = false;
		return;
	}
	finding = gather;
	if (nftw(folder, add_found, 16, FTW_PHYS)) {
		fputs("phasemux: no memory\n", stderr);
		gather->complete = false;
	}
	if (gather->found_count == before)
		fprintf(stderr, "phasemux: %s: no run has left anything there\n", host);
}

bool gather_fetch(struct gather *gather)
{
	const char *where = getenv("TMPDIR"), *at = gather->hosts;
	char host[HOST_MAX];

	if (snprintf(gather->place, sizeof(gather->place), "%s/phasemux-recover.XXXXXX",
			    where && *where ? where : "/tmp") >= (int)sizeof(gather->place) ||
			!mkdtemp(gather->place)) {
		fprintf(stderr, "phasemux: %s: %s\n", gather->place, strerror(errno));
		*gather->place = '\0';
		return false;
	}
	gather->complete = true;
	while (next_host(&at, host))
		fetch_from(gather, host);
	return true;
}

/* Returns the length of the folder of a host, or 0 if the path is not in one. */
static size_t host_part(const struct gather *gather, const char *path)
{
	size_t length = strlen(gather->place);

	if (strncmp(path, gather->place, length) != 0 || path[length] != '/')
		return 0;
	return length + 1 + strcspn(path + length + 1, "/");
}

bool gather_remove_there(const struct gather *gather)
{
	const char *at = gather->hosts;
	char host[HOST_MAX], folder[2 * PATH_MAX];
	bool removed = true;

	while (next_host(&at, host)) {
		size_t length = (size_t)snprintf(folder, sizeof(folder), "%s/%s", gather->place,
				host);

		for (int i = 0; i < gather->found_count; i++)
			if (host_part(gather, gather->found[i]) == length &&
					strncmp(gather->found[i], folder, length) == 0) {
				removed &= ask(gather, host, NULL, true);
				break;
			}
	}
	return removed;
}

void gather_name(const struct gather *gather, char *path)
{
	size_t length = host_part(gather, path), before = strlen(gather->place) + 1;

	if (!length)
		return;
	memmove(path, path + before, strlen(path + before) + 1);
	/* "HOST/path" becomes "HOST:/path", which is shorter than what it was */
	memmove(path + length - before + 1, path + length - before,
			strlen(path + length - before) + 1);
	path[length - before] = ':';
}

void gather_end(struct gather *gather)
{
	for (int i = 0; i < gather->found_count; i++)
		free(gather->found[i]);
	free(gather->found);
	if (*gather->place)
		child_remove(gather->place);
}
