/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/run/reach.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tools/machine.h"

#define HEADERS_MAX 64 /* number of program headers that are read; programs have about 13 */

bool reach_can_preload(const char *path)
{
	return !strpbrk(path, " \t\n:$");
}

/* Returns whether the dynamic loader starts the program; true if it cannot be read. */
static bool has_loader(int fd, const ElfW(Ehdr) * header)
{
	ElfW(Phdr) part[HEADERS_MAX];
	size_t count = header->e_phnum < HEADERS_MAX ? header->e_phnum : HEADERS_MAX;
	ssize_t bytes = pread(fd, part, count * sizeof(*part), (off_t)header->e_phoff);

	if (header->e_phentsize != sizeof(*part) || bytes != (ssize_t)(count * sizeof(*part)))
		return true;
	for (size_t i = 0; i < count; i++)
		if (part[i].p_type == PT_INTERP)
			return true;
	return false;
}

static bool is_elf(const ElfW(Ehdr) * header, ssize_t bytes)
{
	return bytes >= EI_NIDENT && memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
}

/*
 * Returns whether the program gets other rights. The kernel then tells the loader to preload nothing by path.
 */
static bool has_other_rights(int fd, const struct stat *status)
{
	if ((status->st_mode & S_ISUID) && status->st_uid != getuid())
		return true;
	if ((status->st_mode & S_ISGID) && status->st_gid != getgid())
		return true;
	return getuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0;
}

/* Returns why the program of the open file cannot be observed, or NULL if it can. */
static const char *why_not(int fd, const struct stat *status)
{
	ElfW(Ehdr) own, header = { .e_ident = { 0 } };
	ssize_t bytes = pread(fd, &header, sizeof(header), 0);
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	bool known = self >= 0 && pread(self, &own, sizeof(own), 0) == (ssize_t)sizeof(own);

	if (self >= 0)
		close(self);
	if (has_other_rights(fd, status))
		return "runs with other rights than yours, for which the loader preloads nothing";
	if (!is_elf(&header, bytes))
		return NULL;
	if (known &&
			(header.e_ident[EI_CLASS] != own.e_ident[EI_CLASS] ||
					(bytes == (ssize_t)sizeof(header) &&
							header.e_machine != own.e_machine)))
		return "is for another kind of processor than this phasemux";
	if (bytes == (ssize_t)sizeof(header) && !has_loader(fd, &header))
		return "is linked statically, and nothing can be preloaded into it";
	return NULL;
}

static void say_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	const char *why = NULL;

	if (fd < 0)
		return;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_mode & 0111)
		why = why_not(fd, &status);
	close(fd);
	if (why)
		fprintf(stderr, "phasemux: %s cannot be observed: it %s\n", path, why);
}

/* Sets `path` to the file that execvp takes for a name without a slash. Returns false if there is none. */
static bool in_path(const char *name, char *path, size_t size)
{
	const char *folders = getenv("PATH");

	for (; folders && *folders; folders += strcspn(folders, ":"), folders += *folders == ':') {
		int length = (int)strcspn(folders, ":");

		if (snprintf(path, size, "%.*s%s%s", length, folders, length ? "/" : "./", name) <
						(int)size &&
				access(path, X_OK) == 0)
			return true;
	}
	return false;
}

/* Returns whether an option of env, which may have the next word as its value, takes LD_PRELOAD away. */
static bool unsets_preload(const char *option, const char *next)
{
	if (strcmp(option, "-") == 0 || strcmp(option, "--ignore-environment") == 0)
		return true;
	if (strcmp(option, "-u") == 0 || strcmp(option, "--unset") == 0)
		return next && strcmp(next, "LD_PRELOAD") == 0;
	return strcmp(option, "-uLD_PRELOAD") == 0 || strcmp(option, "--unset=LD_PRELOAD") == 0 ||
			(option[0] == '-' && option[1] != '-' && option[1] != 'u' &&
					strchr(option, 'i'));
}

/* Returns whether the words are a call of env that starts its program without the preload. */
static bool is_env_without_preload(char *const *words)
{
	const char *slash = strrchr(words[0], '/');
	bool removed = false;

	if (strcmp(slash ? slash + 1 : words[0], "env") != 0)
		return false;
	for (words++; *words && (**words == '-' || strchr(*words, '=')); words++) {
		if (strncmp(*words, "LD_PRELOAD=", 11) == 0)
			removed = !strstr(*words, MACHINE_LIBRARY);
		else if (unsets_preload(*words, words[1]))
			removed = true;
		/* options whose value is the next word */
		if ((strcmp(*words, "-u") == 0 || strcmp(*words, "-C") == 0) && words[1])
			words++;
	}
	return removed;
}

void reach_say(char *const *words)
{
	char path[PATH_MAX];

	for (size_t i = 0; words[i]; i++)
		if (is_env_without_preload(words + i))
			fputs("phasemux: env takes LD_PRELOAD away: what it starts cannot be observed\n",
					stderr);
		else if (strchr(words[i], '/'))
			say_of(words[i]);
		else if (i == 0 && in_path(words[i], path, sizeof(path)))
			say_of(path);
}
