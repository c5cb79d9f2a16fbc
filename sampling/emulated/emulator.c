/* SPDX-License-Identifier: BSD-3-Clause */
#include "sampling/emulated/emulator.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sampling/decimal.h"
#include "sampling/emulated/emulated_counts.h"

#define QEMU         "qemu-x86_64"
#define QEMU_THREADS 1 /* the one that frees memory when no other thread uses it any more */

/* Sets `path` to the executable file of this name in PATH. Returns false if there is none. */
static bool find_in_path(const char *name, char *path, size_t size)
{
	const char *folders = getenv("PATH");

	if (!folders)
		folders = "/usr/local/bin:/usr/bin:/bin";
	for (; *folders; folders += strcspn(folders, ":"), folders += *folders == ':') {
		int length = (int)strcspn(folders, ":");

		if (length && snprintf(path, size, "%.*s/%s", length, folders, name) < (int)size &&
				access(path, X_OK) == 0)
			return true;
	}
	return false;
}

int emulator_find(struct emulator *emulator, const char *folder, char *why, size_t why_size)
{
	if (snprintf(emulator->plugin, sizeof(emulator->plugin), "%s/" EMULATOR_PLUGIN, folder) >=
					(int)sizeof(emulator->plugin) ||
			access(emulator->plugin, R_OK)) {
		snprintf(why, why_size,
				EMULATOR_PLUGIN
				" is not beside the preload; it is built for x86-64 alone");
		return -ENOENT;
	}
	if (strchr(emulator->plugin, ',')) {
		snprintf(why, why_size, "QEMU takes no plugin from a folder with a comma: %.300s",
				folder);
		return -ENOENT;
	}
	if (!find_in_path(QEMU, emulator->qemu, sizeof(emulator->qemu))) {
		snprintf(why, why_size,
				QEMU
				" is not in PATH; install QEMU's user mode (Debian: apt-get install qemu-user)");
		return -ENOENT;
	}
	return 0;
}

int emulator_try(const struct emulator *emulator, char *why, size_t why_size)
{
	char plugin[PATH_MAX + 64];
	pid_t child;
	int status = -1, null;

	snprintf(plugin, sizeof(plugin), "%s,core=%s", emulator->plugin, core_spec_of(0)->name);
	child = fork();
	if (child == 0) {
		unsetenv("LD_PRELOAD");
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, 1);
		dup2(null, 2);
		execl(emulator->qemu, QEMU, "-plugin", plugin, "/bin/true", (char *)NULL);
		_exit(127);
	}
	if (child > 0 && waitpid(child, &status, 0) == child && status == 0)
		return 0;
	snprintf(why, why_size,
			QEMU
			" does not run /bin/true with a plugin; QEMU 6.0 to 8.2 is needed, which is "
			"not linked statically (as that of Debian 13 is)");
	return -ENOTSUP;
}

/* Returns the words of this process' command, which end with NULL; NULL: not known. They are never freed. */
static char **own_words(void)
{
	size_t size = 0, room = 65536, count = 0;
	char *text = malloc(room), **words;
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t got = -1;

	while (text && fd >= 0 && (got = read(fd, text + size, room - size)) > 0) {
		size += (size_t)got;
		if (size == room) {
			char *larger = realloc(text, room *= 2);

			if (!larger)
				free(text);
			text = larger;
		}
	}
	if (fd >= 0)
		close(fd);
	if (!text || got < 0 || !size) {
		free(text);
		return NULL;
	}
	for (size_t at = 0; at < size; at++)
		count += !text[at];
	words = calloc(count + 1, sizeof(*words));
	for (size_t at = 0, i = 0; words && at < size; at += strlen(text + at) + 1)
		words[i++] = text + at;
	return words;
}

/* Puts the words of QEMU before those of the program. options: of the plugin. Returns NULL without memory. */
static char **with_qemu(const struct emulator *emulator, const char *options, char *path,
		char **words)
{
	const char *preload = getenv("LD_PRELOAD");
	size_t count = 0, at = 0;
	char *plugin, *variable = NULL, **all;

	while (words[count])
		count++;
	all = calloc(count + 12, sizeof(*all));
	if (!all || asprintf(&plugin, "%s,%s", emulator->plugin, options) < 0)
		return NULL;
	all[at++] = (char *)emulator->qemu;
	all[at++] = "-plugin";
	all[at++] = plugin;
	/* the libraries are for the program, and not for QEMU */
	if (preload) {
		if (asprintf(&variable, "LD_PRELOAD=%s", preload) < 0)
			return NULL;
		all[at++] = "-E";
		all[at++] = variable;
	}
	all[at++] = "-0";
	all[at++] = words[0];
	all[at++] = path;
	memcpy(all + at, words + 1, (count - 1) * sizeof(*words));
	return all;
}

int emulator_enter(const struct emulator *emulator, const char *core, bool sizes)
{
	static const char single_copy[] = "OMPI_MCA_btl_vader_single_copy_mechanism";
	char path[PATH_MAX], options[128], **words = own_words();
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *preload = getenv("LD_PRELOAD"), *kept = preload ? strdup(preload) : NULL;
	int persona = personality(0xffffffff);

	if (!words || length < 0)
		return -ENOENT;
	path[length] = '\0';
	if (access(path, R_OK))
		return -errno;
	snprintf(options, sizeof(options), "core=%s%s", core, sizes ? "," EMULATED_SIZES : "");
	words = with_qemu(emulator, options, path, words);
	if (!words)
		return -ENOMEM;
	/* QEMU 7.2 does not know the call by which Open MPI would read from another process */
	setenv(single_copy, "none", 0);
	/* addresses that are not random make runs alike, because they decide what shares a set of a cache */
	if (persona >= 0)
		personality((unsigned long)persona | ADDR_NO_RANDOMIZE);
	unsetenv("LD_PRELOAD");
	execv(emulator->qemu, words);
	length = errno;
	if (persona >= 0)
		personality((unsigned long)persona);
	if (kept)
		setenv("LD_PRELOAD", kept, 1);
	return -(int)length;
}

int emulator_counts(void)
{
	static const char wanted[] = "/memfd:" EMULATED_FILE;
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;
	int fd = -ENOENT;

	while (folder && fd < 0 && (entry = readdir(folder))) {
		char target[64];
		ssize_t length = readlinkat(dirfd(folder), entry->d_name, target, sizeof(target));

		if (length >= (ssize_t)sizeof(wanted) - 1 &&
				memcmp(target, wanted, sizeof(wanted) - 1) == 0)
			fd = decimal_read(entry->d_name);
	}
	if (folder)
		closedir(folder);
	return fd;
}

unsigned emulator_threads(void)
{
	return emulator_counts() < 0 ? 0 : QEMU_THREADS;
}
