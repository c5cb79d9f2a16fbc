/* SPDX-License-Identifier: BSD-3-Clause */
#include "tools/doctor/mpis.h"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEEN_MAX 64

/* Files that were looked at, as one may lie in several folders under several names. */
struct search {
	struct mpi_found *found;
	unsigned seen;
	struct {
		dev_t device;
		ino_t inode;
	} file[SEEN_MAX];
};

/* Returns whether a file is seen for the first time. */
static bool is_new(struct search *search, const char *path)
{
	struct stat file;

	/* a package's broken link is none, nor is an empty file */
	if (stat(path, &file) || !S_ISREG(file.st_mode) || !file.st_size ||
			search->seen == SEEN_MAX)
		return false;
	for (unsigned i = 0; i < search->seen; i++)
		if (search->file[i].device == file.st_dev && search->file[i].inode == file.st_ino)
			return false;
	search->file[search->seen].device = file.st_dev;
	search->file[search->seen++].inode = file.st_ino;
	return true;
}

/* Returns the family of a library that has its soname as the file's name. The files are not opened. */
static enum mpi_family family_of_file(const char *name)
{
	enum mpi_family family = mpi_family_of(name, false);

	if (family == MPI_FAMILIES && strncmp(name, "libmpi.so.", 10) == 0 &&
			!strchr(name + 10, '.'))
		return MPI_FAMILY_OPENMPI;
	return family;
}

static void look_in(struct search *search, const char *folder)
{
	DIR *files = opendir(folder);
	struct dirent *file;

	while (files && (file = readdir(files))) {
		char path[PATH_MAX];
		enum mpi_family family = family_of_file(file->d_name);

		if (family == MPI_FAMILIES ||
				snprintf(path, sizeof(path), "%s/%s", folder, file->d_name) >=
						(int)sizeof(path) ||
				!is_new(search, path))
			continue;
		if (!search->found[family].count++)
			snprintf(search->found[family].path, PATH_MAX, "%s", path);
	}
	if (files)
		closedir(files);
}

static void look_where_the_loader_looks(struct search *search)
{
	void *self = dlopen(NULL, RTLD_LAZY);
	Dl_serinfo size, *folders;

	if (!self || dlinfo(self, RTLD_DI_SERINFOSIZE, &size))
		return;
	folders = malloc(size.dls_size);
	if (folders) {
		*folders = size;
		if (dlinfo(self, RTLD_DI_SERINFO, folders) == 0)
			for (unsigned i = 0; i < folders->dls_cnt; i++)
				look_in(search, folders->dls_serpath[i].dls_name);
	}
	free(folders);
}

/* Looks in the folders of libraries that belong to a folder of commands. */
static void look_beside(struct search *search, const char *folder)
{
	static const char *const commands[] = { "mpirun", "mpiexec", "mpicc" };
	static const char *const libraries[] = { "lib", "lib64", "lib/release" };
	bool has_any = false;
	char path[PATH_MAX];

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands) && !has_any; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, commands[i]);
		has_any = access(path, X_OK) == 0;
	}
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries) && has_any; i++) {
		snprintf(path, sizeof(path), "%s/../%s", folder, libraries[i]);
		look_in(search, path);
	}
}

void mpis_find(struct mpi_found found[MPI_FAMILIES])
{
	struct search search = { .found = found };
	char *folders = strdup(getenv("PATH") ? getenv("PATH") : ""), *rest = folders, *folder;

	memset(found, 0, MPI_FAMILIES * sizeof(*found));
	look_where_the_loader_looks(&search);
	while ((folder = strsep(&rest, ":")))
		if (*folder)
			look_beside(&search, folder);
	free(folders);
}
