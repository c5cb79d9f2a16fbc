#include "agent/real.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

struct names {
	unsigned count;
	char *path[REAL_LIBRARIES_MAX];
};

/*
 * Only the paths are noted under the loader's lock: dlopen there would deadlock. An MPI library or
 * one of its bindings has "mpi" in the name of its file.
 */
static int note_mpi(struct dl_phdr_info *info, size_t size, void *data)
{
	struct names *names = data;
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (strncmp(base, "lib", 3) == 0 && strstr(base, "mpi") &&
			names->count < REAL_LIBRARIES_MAX)
		names->path[names->count++] = strdup(info->dlpi_name);
	return 0;
}

void real_libraries_find(struct real_libraries *libraries)
{
	struct names names = { .count = 0 };

	libraries->count = 0;
	dl_iterate_phdr(note_mpi, &names);
	for (unsigned i = 0; i < names.count; i++) {
		void *handle = NULL;

		if (names.path[i])
			handle = dlopen(names.path[i], RTLD_NOLOAD | RTLD_LAZY);
		if (handle)
			libraries->handle[libraries->count++] = handle;
		free(names.path[i]);
	}
}

void *real_find(const struct real_libraries *libraries, const char *symbol)
{
	void *real = dlsym(RTLD_NEXT, symbol);

	for (unsigned i = 0; !real && i < libraries->count; i++)
		real = dlsym(libraries->handle[i], symbol);
	return real;
}
